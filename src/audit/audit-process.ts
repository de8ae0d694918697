import { fork } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { AuditMessage, AuditRequest } from "./audit-messages.ts";
import { AuditError } from "./errors.ts";
import type { AuditReport } from "./report.ts";

/** A single rollout that takes longer hangs. */
const HANG_LIMIT_MS = 60_000;
const MAX_STDERR = 4_000;

export interface AuditProcessOptions {
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onProgress?: (what: string) => void;
  readonly hangLimitMs?: number;
}

/** Audits the servers of a config in a process of its own; a verifier that hangs or crashes is named. */
export async function auditInProcess(
  request: AuditRequest,
  { signal, env, onProgress, hangLimitMs = HANG_LIMIT_MS }: AuditProcessOptions,
): Promise<AuditReport[]> {
  const suffix = extname(fileURLToPath(import.meta.url));
  const child = fork(fileURLToPath(new URL(`./audit-child${suffix}`, import.meta.url)), {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    serialization: "advanced",
    env: { ...env },
    signal,
    killSignal: "SIGKILL",
    execArgv: suffix === ".ts" ? ["--import", "jiti/register"] : [],
  });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR);
  });
  return new Promise((resolve, reject) => {
    const reports: AuditReport[] = [];
    let last = "starting";
    let finished = false;
    let timer: NodeJS.Timeout | undefined;
    const end = (settle: () => void) => {
      finished = true;
      clearTimeout(timer);
      child.kill("SIGKILL");
      settle();
    };
    const watch = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const seconds = Math.round(hangLimitMs / 1000);
        end(() => reject(new AuditError(`It hung for ${seconds} s at: ${last}. The process was ended.`)));
      }, hangLimitMs);
    };
    watch();
    child.on("message", (message: AuditMessage) => {
      watch();
      switch (message.type) {
        case "ready":
          child.send(request);
          break;
        case "progress":
          last = message.what;
          onProgress?.(message.what);
          break;
        case "report":
          reports.push(message.report);
          break;
        case "failed":
          end(() => reject(new AuditError(message.message)));
          break;
        case "done":
          end(() => resolve(reports));
          break;
      }
    });
    child.on("error", (error) => end(() => reject(signal.aborted ? error : new AuditError(error.message))));
    child.on("exit", (code, killedBy) => {
      if (finished) return;
      const how = killedBy === null ? `code ${code}` : `signal ${killedBy}`;
      const detail = stderr.trim() === "" ? "" : `\n${stderr.trim()}`;
      end(() => reject(new AuditError(`The audited process ended with ${how} at: ${last}.${detail}`)));
    });
  });
}
