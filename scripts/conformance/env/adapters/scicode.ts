import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  codeOf,
  isTooLong,
  promptParts,
  type SubStep,
} from "../../../../responses_api_agents/scicode_agent/steps.ts";
import type { Adapter } from "../adapters.ts";
import { outputTexts, runAgent } from "../agent-case.ts";
import { difference } from "../compare.ts";
import { definitionOf, type Environment } from "../environment-server.ts";
import { type FixtureRow, readLines, rowsOf } from "../rows.ts";

/** A step that the benchmark solves itself. */
const PREFILLED = {
  "62.1":
    "def __init__(self, length, basis_size, operator_dict):\n    self.length = length\n    self.basis_size = basis_size\n    self.operator_dict = operator_dict",
};

/** Cases of single functions. */
const FUNCTIONS: Readonly<Record<string, (row: FixtureRow) => unknown>> = {
  extract_python_script: ({ text }) => codeOf(String(text)),
  is_context_window_error: ({ text }) => isTooLong(String(text)),
  process_problem_steps: ({ sub_steps, step, previous_llm_code, with_background }) =>
    promptParts(sub_steps as SubStep[], Number(step), {
      codes: previous_llm_code as (string | null)[],
      withBackground: with_background === true,
    }),
};

async function runSteps(row: FixtureRow): Promise<string | undefined> {
  const file = path.join(mkdtempSync(path.join(tmpdir(), "gym-conformance-")), "prefilled.json");
  writeFileSync(file, JSON.stringify(PREFILLED));
  const config = { ...row.config, prompt: row["prompt"], prefilled_steps_fpath: file };
  const { calls } = await runAgent(row, "scicode_agent", config);
  const verified = calls.at(-1)?.body ?? {};
  const actual = {
    prompts: calls
      .filter(({ server }) => server === "model")
      .map(({ body }) => {
        const { content } = rowsOf(body["input"])[0] ?? {};
        return Array.isArray(content) ? content[0]?.text : content;
      }),
    solutions: verified["solutions"],
    verify_response_output: outputTexts(verified["response"]),
  };
  return difference(actual, row.expected, "run");
}

/** The rows have no key metrics: they belong to the agent in the original. */
function metricsCase(row: FixtureRow, environment: Environment): string | undefined {
  const { metrics } = (
    definitionOf(environment, row) as { options: { metrics: { compute(tasks: unknown): unknown } } }
  ).options;
  return difference(metrics.compute(row["tasks"]), row.expected["compute_metrics"], "metrics", {
    relative: 1e-9,
  });
}

export const adapter: Adapter = {
  rows: readLines,
  config: (_, { fixtures }) => ({
    test_data_fpath: path.join(fixtures, "test_data.h5"),
    data_python: "/usr/bin/python3",
    exit_code_only: true,
  }),
  caseOf(row, environment) {
    const call = FUNCTIONS[String(row["kind"])];
    if (call) return () => difference(call(row), row.expected, "result");
    if (row["kind"] === "agent_run") return () => runSteps(row);
    return row["tasks"] === undefined ? undefined : () => metricsCase(row, environment);
  },
};
