import { GymError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/python/json/json-object.ts";
import { compareReport } from "../../src/records/results/compare-report.ts";
import { difference } from "./difference.ts";
import { goldenLines } from "./golden-lines.ts";
import type { Suite } from "./suite.ts";

interface Case {
  id: string;
  config: { agent_name?: string; baseline_agent_name?: string; candidate_agent_names?: string[] };
  baseline: unknown;
  candidate: unknown;
  expected: JsonObject;
}

/** `gym eval compare` with a report: two files of aggregate metrics, without time, version and command. */
export const suite: Suite = async (file) =>
  (await goldenLines<Case>(file)).map((golden) => ({ id: golden.id, run: () => runCase(golden) }));

function runCase({ config, baseline, candidate, expected }: Case): string | undefined {
  const isError = Object.hasOwn(expected, "error");
  let actual: JsonObject;
  try {
    actual = compareReport(side("base", baseline), [side("cand", candidate)], {
      agent: config.agent_name,
      baselineAgent: config.baseline_agent_name,
      candidateAgents: config.candidate_agent_names,
    });
  } catch (error) {
    if (!(error instanceof GymError)) return `threw ${String(error)}, not an error of ours`;
    return isError ? undefined : `threw ${error.message}`;
  }
  if (isError) return "was accepted; an error was expected";
  const { command: _command, ...report } = expected;
  return difference(actual, report, "$", {
    relative: 1e-9,
    absolute: 1e-9,
    matches: (given, wanted) => wanted === "<text>" && typeof given === "string" && given !== "",
  });
}

function side(label: string, content: unknown) {
  const rollouts = `<dir>/${label}/rollouts.jsonl`;
  return { rollouts, metricsFile: `<dir>/${label}/rollouts_aggregate_metrics.json`, label, content };
}
