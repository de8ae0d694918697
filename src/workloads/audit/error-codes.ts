import type { ErrorCodeRow } from "../../errors.ts";

/** Codes of `gym env audit`. */
export const auditErrorCodes = [
  {
    code: "AUDIT",
    class: "AuditError",
    when: "An environment cannot be audited: no rows, a server that does not start, or an `audit.yaml` that cannot be used.",
    fix: "Follow the message; [auditing](../guide/auditing.md) describes `audit.yaml`.",
  },
] as const satisfies readonly ErrorCodeRow[];
