import { taskIdOf, verdictOf } from "../../../../resources_servers/deepswe/verdict.ts";
import { show } from "../../difference.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { type FixtureRow, isObject, readLines } from "../rows.ts";

/** An exception of the original ends as a verifier without a result. */
function verifierCase({ reward_json, ctrf, exit_code, expected }: FixtureRow): string | undefined {
  const text = typeof reward_json === "string" ? reward_json : null;
  const verdict = verdictOf(text, ctrf === true, Number(exit_code));
  if (expected["raises"] !== undefined)
    return verdict.evaluation_completed ? `expected no result, got ${show(verdict)}` : undefined;
  return difference(verdict, expected, "verdict");
}

function taskCase({ task_id, verifier_metadata, expected }: FixtureRow): string | undefined {
  const id = taskIdOf(task_id, verifier_metadata);
  return isObject(expected) ? difference(id, undefined, "task") : difference(id, expected, "task");
}

export const adapter: Adapter = {
  rows: readLines,
  caseOf: (row) => () => (row["kind"] === "run_verifier" ? verifierCase(row) : taskCase(row)),
};
