import { AuditError } from "../errors.ts";
import type { AuditReport } from "./report.ts";
import type { TargetOptions } from "./targets.ts";
import { runWatchedChild, type WatchedChildOptions } from "./watched-child.ts";

/** What the process that audits is asked to do. */
export interface AuditRequest extends TargetOptions {
  readonly only: readonly string[];
}

export type AuditProcessOptions = Omit<WatchedChildOptions, "problem">;

/** Audits the servers of a config in a process of its own; a verifier that hangs or crashes is named. */
export function auditInProcess(request: AuditRequest, options: AuditProcessOptions): Promise<AuditReport[]> {
  return runWatchedChild<AuditRequest, AuditReport>(new URL("./audit-child", import.meta.url), request, {
    ...options,
    problem: (message) => new AuditError(message),
  });
}
