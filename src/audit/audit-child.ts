import { errorMessage, GymError } from "../errors.ts";
import type { AuditMessage, AuditRequest } from "./audit-messages.ts";
import { auditServer } from "./run-audit.ts";
import { findTargets } from "./targets.ts";

/** The process in which verifiers are tried: one that hangs or crashes takes nobody with it. */
process.once("message", (request: AuditRequest) => void audit(request));
send({ type: "ready" });

async function audit(request: AuditRequest): Promise<void> {
  try {
    send({ type: "progress", what: "starting" });
    for (const target of await findTargets(request)) {
      const report = await auditServer({
        ...target,
        only: request.only,
        onProgress: (what) => send({ type: "progress", what: `${target.server.name}, ${what}` }),
      });
      send({ type: "report", report });
    }
    send({ type: "done" });
  } catch (error) {
    const code = error instanceof GymError ? error.code : "AUDIT";
    const stack = error instanceof GymError ? undefined : (error as Error).stack;
    send({ type: "failed", code, message: stack ?? errorMessage(error) });
  } finally {
    process.disconnect();
  }
}

function send(message: AuditMessage): void {
  process.send?.(message);
}
