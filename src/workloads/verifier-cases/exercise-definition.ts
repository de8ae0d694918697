import type { ServerDefinition } from "../../definitions/definitions.ts";
import { createTestServer, type TestServerOptions } from "../../hosting/test-server.ts";
import { defaultContract, type RewardContract } from "./contract.ts";
import { VerifierFixtureError } from "./errors.ts";
import { type CaseResult, exerciseCases } from "./exercise.ts";

export interface VerifierCasesOptions extends TestServerOptions, Partial<RewardContract> {
  /** The file of cases, usually `tests/verifier_cases.jsonl`. */
  readonly file: string;
  /** Write the rewards that were seen into the file, once everything else holds. */
  readonly updateExpected?: boolean;
}

/**
 * Runs the verifier cases of a resources server inside a test; fails with everything that does not hold.
 *
 * @example
 * const file = fileURLToPath(new URL("tests/verifier_cases.jsonl", import.meta.url));
 * await exerciseVerifierCases(definition, { file, range: [0, 1], higherIsBetter: true });
 */
export async function exerciseVerifierCases(
  definition: ServerDefinition,
  options: VerifierCasesOptions,
): Promise<CaseResult[]> {
  if (definition.type !== "resources_servers")
    throw new VerifierFixtureError("Only resources servers have verifier cases.");
  const { file, range, higherIsBetter, determinism, updateExpected, ...server } = options;
  return exerciseCases({
    file,
    contract: {
      range: range ?? defaultContract.range,
      higherIsBetter: higherIsBetter ?? defaultContract.higherIsBetter,
      determinism: determinism ?? defaultContract.determinism,
    },
    server: { kind: definition.kind, start: () => createTestServer(definition, server) },
    ...(updateExpected !== undefined && { updateExpected }),
  });
}
