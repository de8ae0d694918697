import { errorMessage } from "../../../base/errors.ts";
import type { ServerDefinition } from "../../../servers/definitions/door.ts";
import { createTestServer, type TestServer, type TestServerOptions } from "../../../servers/hosting/door.ts";
import { VerifierFixtureError } from "../errors.ts";
import {
  CASES_FILE,
  type CaseKind,
  checkContract,
  endpoints,
  missingKinds,
  type RewardContract,
  readCases,
  type VerifierCase,
  writeExpected,
} from "./cases.ts";
import { type Observation, replayCase } from "./replay-case.ts";

export interface ExerciseOptions {
  /** The cases, usually `tests/verifier_cases.jsonl` of the server. */
  readonly file: string;
  readonly contract: RewardContract;
  readonly server: {
    readonly kind: "standard" | "gymnasium";
    /** Starts a fresh server for one run of one case. */
    start(kind: CaseKind): Promise<TestServer>;
  };
  /** Write the observed rewards to the file if all cases pass. */
  readonly updateExpected?: boolean;
  readonly onCase?: (name: string) => void;
}

export interface CaseResult {
  readonly name: string;
  readonly kind: CaseKind;
  /** Two rewards for determinism, none for malformed requests. */
  readonly observed_rewards: readonly number[];
}

/** The reason why a case fails. */
class CaseProblem extends Error {}

/** Runs the cases of a verifier, each on a fresh server, and returns the observed rewards. The error lists all failures. */
export async function exerciseCases(options: ExerciseOptions): Promise<CaseResult[]> {
  const { file, contract } = options;
  checkContract(contract);
  const cases = readCases(file);
  const missing = missingKinds(cases, contract);
  if (missing.length > 0)
    throw new VerifierFixtureError(`${file} needs a case of each kind; missing: ${missing.join(", ")}.`);
  const results: CaseResult[] = [];
  const problems: string[] = [];
  const rewards = new Map<VerifierCase, number>();
  for (const found of cases) {
    options.onCase?.(found.name);
    try {
      const observed = await runCase(found, options);
      results.push({ name: found.name, kind: found.kind, observed_rewards: observed });
      if (observed[0] !== undefined) rewards.set(found, observed[0]);
    } catch (error) {
      if (!(error instanceof CaseProblem)) throw error;
      problems.push(`  - ${found.name} (${found.kind}, line ${found.line}): ${error.message}`);
    }
  }
  if (problems.length > 0) {
    const count = `${problems.length} of ${cases.length} cases`;
    throw new VerifierFixtureError(`${count} in ${file} failed:\n${problems.join("\n")}`);
  }
  if (options.updateExpected === true) await writeExpected(file, cases, rewards);
  return results;
}

async function runCase(found: VerifierCase, options: ExerciseOptions): Promise<number[]> {
  if (found.kind === "malformed") {
    checkRejection(await observe(found, options), found.expected_error ?? "");
    return [];
  }
  if (found.kind === "determinism" && options.contract.determinism === "stochastic")
    throw new CaseProblem("the manifest says that rewards are stochastic; give the case another kind");
  const first = await observedReward(found, options);
  const observed = [first];
  if (found.kind === "determinism") {
    const second = await observedReward(found, options);
    if (second !== first)
      throw new CaseProblem(`the reward changed from ${first} to ${second} on a second fresh server`);
    observed.push(second);
  } else if (found.kind === "partial_reward") {
    const [low, high] = options.contract.range;
    if (first === low || first === high)
      throw new CaseProblem(
        `the reward is ${first}, an end of the declared range; a partial reward is between its ends`,
      );
  } else {
    const end = endpoints(options.contract)[found.kind];
    if (first !== end) {
      const which = end === options.contract.range[1] ? "upper" : "lower";
      throw new CaseProblem(`the reward is ${first}, not the ${which} end of the declared range, ${end}`);
    }
  }
  if (options.updateExpected !== true && first !== found.expected_reward)
    throw new CaseProblem(`the reward is ${first}, but expected_reward says ${found.expected_reward}`);
  return observed;
}

async function observedReward(found: VerifierCase, options: ExerciseOptions): Promise<number> {
  const seen = await observe(found, options);
  if ("error" in seen) throw new CaseProblem(`${seen.route} answered ${seen.status}: ${seen.error}`);
  const { reward } = seen;
  if (typeof reward !== "number" || !Number.isFinite(reward))
    throw new CaseProblem(`the reward is not a finite number: ${JSON.stringify(reward) ?? "missing"}`);
  const [low, high] = options.contract.range;
  if (reward < low || reward > high)
    throw new CaseProblem(`the reward ${reward} is outside the declared range [${low}, ${high}]`);
  return reward;
}

function checkRejection(seen: Observation, expected: string): void {
  if (!("error" in seen))
    throw new CaseProblem(`it was not rejected, but got the reward ${JSON.stringify(seen.reward)}`);
  if (!seen.error.includes(expected))
    throw new CaseProblem(
      `${seen.route} rejected it, but without '${expected}' in the message: ${seen.error}`,
    );
}

async function observe(found: VerifierCase, { server }: ExerciseOptions): Promise<Observation> {
  let fresh: TestServer;
  try {
    fresh = await server.start(found.kind);
  } catch (error) {
    throw new VerifierFixtureError(`No server could be started for ${CASES_FILE}: ${errorMessage(error)}`, {
      cause: error,
    });
  }
  try {
    return await replayCase(fresh, found.request, server.kind);
  } finally {
    await fresh.close();
  }
}

export interface VerifierCasesOptions extends TestServerOptions, Partial<RewardContract> {
  /** The file of cases, usually `tests/verifier_cases.jsonl`. */
  readonly file: string;
  /** Write the observed rewards to the file if all cases pass. */
  readonly updateExpected?: boolean;
}

/**
 * Runs the verifier cases of a resources server in a test. The error lists all failures.
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
  const { file, range = [0, 1], higherIsBetter = true, determinism = "unknown", ...others } = options;
  const { updateExpected, ...server } = others;
  return exerciseCases({
    file,
    contract: { range, higherIsBetter, determinism },
    server: { kind: definition.kind, start: () => createTestServer(definition, server) },
    updateExpected,
  });
}
