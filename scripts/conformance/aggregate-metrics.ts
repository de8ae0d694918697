import { GymError } from "../../src/base/errors.ts";
import { dumpsCompact } from "../../src/base/python/json/json-dumps.ts";
import { aggregateMetrics } from "../../src/records/metrics/aggregate.ts";
import type { Row } from "../../src/records/metrics/rollout-row.ts";
import { difference } from "./difference.ts";
import { goldenLines } from "./golden-lines.ts";
import type { Suite } from "./suite.ts";

const TOLERANCE = { relative: 1e-9, absolute: 1e-9 };

interface Case {
  id: string;
  verify_responses: Row[];
  expected: Row;
}

/** The answer of `/aggregate_metrics` to rows of results, in the form of NeMo Gym 0.7. */
export const suite: Suite = async (file) =>
  (await goldenLines<Case>(file)).map((golden) => ({ id: golden.id, run: () => runCase(golden) }));

function runCase({ verify_responses, expected }: Case): string | undefined {
  let actual: unknown;
  try {
    actual = JSON.parse(dumpsCompact(aggregateMetrics(verify_responses)));
  } catch (error) {
    if (!(error instanceof GymError)) return `threw ${String(error)}, not an error of ours`;
    return Object.hasOwn(expected, "error") ? undefined : `threw ${error.message}`;
  }
  if (Object.hasOwn(expected, "error")) return "was accepted; an error was expected";
  return difference(actual, expected, "$", TOLERANCE);
}
