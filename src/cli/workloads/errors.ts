import { type ErrorTable, GymError } from "../../base/errors.ts";

/** Codes of `gym env audit`, `gym env init` and verifier cases. */
export const workloadErrorCodes = {
  AuditError: {
    AUDIT: {
      when: "An environment cannot be audited: no rows, a server that does not start, or an `audit.yaml` that cannot be used.",
      fix: "Follow the message; [auditing](../guide/auditing.md) describes `audit.yaml`.",
    },
  },
  ScaffoldError: {
    SCAFFOLD: {
      when: "The name of a new component is not usable, or a file that would be created exists and differs.",
      fix: "Choose a name of lower-case letters, digits and `_`, or move the file; existing files are never overwritten.",
    },
  },
  VerifierFixtureError: {
    VERIFIER_FIXTURE: {
      when: "`tests/verifier_cases.jsonl` cannot be used, or the reward of a case differs from the file.",
      fix: "Correct the verifier or the case; [publishing](../guide/publishing.md) describes the file.",
    },
  },
} satisfies ErrorTable;

/** An audit cannot run because of its settings, its rows or the server. */
export class AuditError extends GymError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("AUDIT", message, options);
  }
}

/** A scaffold cannot be created. */
export class ScaffoldError extends GymError {
  constructor(message: string) {
    super("SCAFFOLD", message);
  }
}

/** A file of verifier cases cannot be used, or a case fails. */
export class VerifierFixtureError extends GymError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("VERIFIER_FIXTURE", message, options);
  }
}
