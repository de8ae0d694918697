import { chmod, lstat } from "node:fs/promises";
import { dumps } from "../../python/json/json-dumps.ts";
import { loads } from "../../python/json/json-loads.ts";
import { PyFloat } from "../../python/numbers/py-float.ts";
import { writeFileAtomically } from "../../rollouts/files/atomic-file.ts";
import type { VerifierCase } from "./cases.ts";
import { VerifierFixtureError } from "./errors.ts";

const FIELDS = ["name", "kind", "request", "expected_reward", "expected_error"] as const;

/** Writes the rewards into the file where they differ from what it expects: whole or not at all, keys sorted, nulls dropped. */
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

/** The request is read again exactly, so that long integers and floats stay as they were. */
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
