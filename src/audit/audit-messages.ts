import type { AuditReport } from "./report.ts";
import type { TargetOptions } from "./targets.ts";

/** What the process that audits is asked to do. */
export interface AuditRequest extends TargetOptions {
  readonly only: readonly string[];
}

export type AuditMessage =
  | { readonly type: "ready" }
  | { readonly type: "progress"; readonly what: string }
  | { readonly type: "report"; readonly report: AuditReport }
  | { readonly type: "failed"; readonly code: string; readonly message: string }
  | { readonly type: "done" };
