import type { ErrorCodeRow } from "../../errors.ts";

/** Codes of verifier cases. */
export const verifierFixtureErrorCodes = [
  {
    code: "VERIFIER_FIXTURE",
    class: "VerifierFixtureError",
    when: "`tests/verifier_cases.jsonl` cannot be used, or the verifier rewards a case otherwise than it says.",
    fix: "Correct the verifier or the case; [publishing](../guide/publishing.md) describes the file.",
  },
] as const satisfies readonly ErrorCodeRow[];
