import { AuditError } from "../errors.ts";
import type { AuditReport } from "./audit.ts";
import type { TargetOptions } from "./targets.ts";
import { runWatchedChild, type WatchedChildOptions } from "./watched-child.ts";

/** The request to the process that audits. */
export interface AuditRequest extends TargetOptions {
  readonly only: readonly string[];
}

/** Audits the servers of a config in a separate process. The error names a verifier that hangs or crashes. */
export function auditInProcess(
  request: AuditRequest,
  options: Omit<WatchedChildOptions, "problem">,
): Promise<AuditReport[]> {
  return runWatchedChild<AuditRequest, AuditReport>(new URL("./audit-child", import.meta.url), request, {
    ...options,
    problem: (message) => new AuditError(message),
  });
}
