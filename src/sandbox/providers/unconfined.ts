import { randomUUID } from "node:crypto";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { commandResult, timeoutResult } from "../exec-results.ts";
import { liveProcess } from "../processes/live-process.ts";
import { runInBackground, runProcess } from "../processes/run-process.ts";
import type {
  ExecOptions,
  SandboxExecResult,
  SandboxHandle,
  SandboxProcess,
  SandboxProvider,
  SandboxStatus,
} from "../provider.ts";
import { DEFAULT_OUTPUT_BYTES } from "../provider-settings.ts";
import { shellCommand } from "../shell-command.ts";
import type { SandboxSpec } from "../spec.ts";

interface Unconfined {
  directory: string;
  env: Readonly<Record<string, string>>;
  kills: Set<() => void>;
}
type Handle = SandboxHandle<Unconfined>;

/**
 * Runs commands directly on this machine with all rights of the user: there is no sandbox. Only `sandbox: none` of a code
 * runner selects it; a sandbox block of the config cannot.
 */
export class UnconfinedProvider implements SandboxProvider<Unconfined> {
  readonly name = "none";

  async create(spec: SandboxSpec): Promise<Handle> {
    const directory = await mkdtemp(path.join(tmpdir(), "nemo-gym-unconfined-"));
    const raw = { directory, env: spec.env, kills: new Set<() => void>() };
    return { sandboxId: `none-${randomUUID()}`, providerName: this.name, raw };
  }

  async exec({ raw }: Handle, command: string, options: ExecOptions = {}): Promise<SandboxExecResult> {
    const { timeoutSeconds = null, signal } = options;
    const timeoutMs = timeoutSeconds === null ? null : timeoutSeconds * 1000;
    const { argv, stdin } = shellCommand("/bin/sh", command, options.stdin);
    const request = { ...this.#request(raw, argv, options.env), stdin, timeoutMs, signal };
    const outcome = await runProcess(request);
    return outcome.timedOut ? timeoutResult(outcome, timeoutSeconds) : commandResult(outcome);
  }

  async startProcess({ raw }: Handle, command: string): Promise<SandboxProcess> {
    return liveProcess(async (streams, until) =>
      commandResult(
        await runInBackground({ ...this.#request(raw, ["/bin/sh", "-c", command]), ...streams }, until),
      ),
    );
  }

  async writeFile({ raw }: Handle, target: string, content: string | Uint8Array): Promise<void> {
    const file = path.resolve(raw.directory, target);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }

  async uploadFile({ raw }: Handle, source: string, target: string): Promise<void> {
    await copyFile(source, path.resolve(raw.directory, target));
  }

  async downloadFile({ raw }: Handle, source: string, target: string): Promise<void> {
    await copyFile(path.resolve(raw.directory, source), target);
  }

  async status(): Promise<SandboxStatus> {
    return "running";
  }

  async close({ raw }: Handle): Promise<void> {
    for (const kill of raw.kills) kill();
    await rm(raw.directory, { recursive: true, force: true });
  }

  async aclose(): Promise<void> {
    // This provider holds nothing besides its directories.
  }

  #request(raw: Unconfined, argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
    return {
      program: "/bin/sh",
      // The directory is an argument, not part of a script.
      args: ["-c", 'cd -- "$1" && shift && exec "$@"', "sh", raw.directory, ...argv],
      env: { PATH: process.env["PATH"], HOME: raw.directory, ...raw.env, ...env },
      maxOutputBytes: DEFAULT_OUTPUT_BYTES,
      onStarted: (_pid: number, kill: () => void) => {
        raw.kills.add(kill);
      },
    };
  }
}
