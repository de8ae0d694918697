import { readFileSync, statSync } from "node:fs";
import { chmod, lstat } from "node:fs/promises";
import { z } from "zod";
import { errorMessage } from "../../../base/errors.ts";
import { strip } from "../../../base/python/door.ts";
import { dumps, loads, loadsPlain } from "../../../base/python/json/door.ts";
import { PyFloat } from "../../../base/python/numbers/door.ts";
import { writeFileAtomically } from "../../../records/files/door.ts";
import { determinisms, type Manifest } from "../catalog/manifest.ts";
import { VerifierFixtureError } from "../errors.ts";

/** The cases in the folder of a server, or of an environment that has its own cases. */
export const CASES_FILE = "tests/verifier_cases.jsonl";

/** Requests to `/verify` with their replies, recorded elsewhere, in the folder of a server. */
export const GOLDEN_FILE = "tests/golden.jsonl";

/** A larger file holds data, not cases. */
const MAX_BYTES = 64 * 1024 * 1024;

const caseKinds = ["full_reward", "zero_reward", "partial_reward", "malformed", "determinism"] as const;
export type CaseKind = (typeof caseKinds)[number];

const filledText = z
  .string()
  .transform((text) => strip(text))
  .refine((text) => text !== "", { message: "must not be empty" });

const VerifierCase = z
  .strictObject({
    name: filledText,
    kind: z.enum(caseKinds),
    /** The body of `/verify`: a row and the response of the rollout. */
    request: z.record(z.string(), z.unknown()),
    expected_reward: z.number().nullish(),
    /** A part of the error message for a malformed request. */
    expected_error: z
      .string()
      .transform((text) => strip(text))
      .nullish(),
  })
  .superRefine((found, context) => {
    const [needed, forbidden] =
      found.kind === "malformed"
        ? (["expected_error", "expected_reward"] as const)
        : (["expected_reward", "expected_error"] as const);
    if ((found[needed] ?? "") === "") report(context, needed, `a ${found.kind} case needs it`);
    if ((found[forbidden] ?? null) !== null)
      report(context, forbidden, `a ${found.kind} case must not have it`);
  });

export type VerifierCase = z.output<typeof VerifierCase> & {
  /** 1-based. */
  readonly line: number;
  /** The text of the line. */
  readonly text: string;
};

/** Reads the cases of a file. Errors name the line and the field. */
export function readCases(file: string): VerifierCase[] {
  const cases = readText(file)
    .split(/\r\n|\n|\r/)
    .flatMap((text, index) => (text.trim() === "" ? [] : [readCase(text, file, index + 1)]));
  if (cases.length === 0) throw new VerifierFixtureError(`${file} has no cases.`);
  const lines = new Map<string, number>();
  for (const { name, line } of cases) {
    const before = lines.get(name);
    if (before !== undefined)
      throw new VerifierFixtureError(
        `${file}:${line} has the same name as line ${before}, '${name}'; names must be unique.`,
      );
    lines.set(name, line);
  }
  return cases;
}

function readText(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > MAX_BYTES) throw new Error(`it has ${size} bytes, but at most ${MAX_BYTES} are allowed`);
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    throw new VerifierFixtureError(`${file} cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

function readCase(text: string, file: string, line: number): VerifierCase {
  let content: unknown;
  try {
    content = loadsPlain(text, { allowNonFinite: true });
  } catch (error) {
    throw new VerifierFixtureError(`${file}:${line} is not JSON: ${errorMessage(error)}`, { cause: error });
  }
  const result = VerifierCase.safeParse(content);
  if (result.success) return { ...result.data, line, text };
  const problems = result.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`,
  );
  throw new VerifierFixtureError(`${file}:${line} is not a verifier case: ${problems.join("; ")}.`);
}

function report(context: z.RefinementCtx, field: string, message: string): void {
  context.addIssue({ code: "custom", path: [field], message });
}

const FIELDS = ["name", "kind", "request", "expected_reward", "expected_error"] as const;

/** Writes the observed rewards to the file if one differs. The write is atomic; keys are sorted and nulls dropped. */
export async function writeExpected(
  file: string,
  cases: readonly VerifierCase[],
  rewards: ReadonlyMap<VerifierCase, number>,
): Promise<void> {
  const changed = cases.some((found) => {
    const reward = rewards.get(found);
    return reward !== undefined && reward !== found.expected_reward;
  });
  if (!changed) return;
  const stats = await lstat(file);
  if (!stats.isFile()) throw new VerifierFixtureError(`${file} is not a regular file and is not replaced.`);
  const lines = cases.map((found) => `${caseText(found, rewards.get(found))}\n`);
  await writeFileAtomically(file, lines);
  await chmod(file, stats.mode & 0o777);
}

/** Reads the request again with exact numbers, so that long integers and floats do not change. */
function caseText(found: VerifierCase, reward: number | undefined): string {
  const exact = loads(found.text, { allowNonFinite: true }) as Record<string, unknown>;
  const expected = reward ?? found.expected_reward;
  const written: Record<string, unknown> = {
    ...exact,
    name: found.name,
    expected_reward: expected === undefined || expected === null ? undefined : new PyFloat(expected),
    expected_error: found.expected_error ?? undefined,
  };
  return dumps(Object.fromEntries(FIELDS.map((field) => [field, written[field]])), { sortKeys: true });
}

/** The properties of the rewards of a verifier, from its manifest. */
export interface RewardContract {
  /** The lowest and the highest reward. */
  readonly range: readonly [low: number, high: number];
  readonly higherIsBetter: boolean;
  readonly determinism: (typeof determinisms)[number];
}

/** Fails if the contract is not valid. */
export function checkContract({ range, determinism }: RewardContract): void {
  const [low, high] = range;
  if (range.length !== 2 || !Number.isFinite(low) || !Number.isFinite(high) || low >= high)
    throw new VerifierFixtureError(
      `The reward range must be two finite numbers, the lower one first: [${range}].`,
    );
  if (!determinisms.includes(determinism))
    throw new VerifierFixtureError(
      `determinism must be one of ${determinisms.join(", ")}: '${determinism}'.`,
    );
}

/** The rewards of a right and of a wrong answer. */
export function endpoints({ range: [low, high], higherIsBetter }: RewardContract) {
  return higherIsBetter ? { full_reward: high, zero_reward: low } : { full_reward: low, zero_reward: high };
}

/** The required kinds of cases that are missing. */
export function missingKinds(cases: readonly VerifierCase[], { determinism }: RewardContract): CaseKind[] {
  const required: CaseKind[] = ["full_reward", "zero_reward", "malformed"];
  if (determinism === "seeded") required.push("determinism");
  return required.filter((kind) => !cases.some((found) => found.kind === kind)).sort();
}

export function contractOf({ reward, determinism }: Manifest): RewardContract {
  return { range: reward.range, higherIsBetter: reward.higher_is_better, determinism };
}
