/**
 * Golden runs of the verifier of legal_agent_bench. The original's is a program in the container of a task, so its files, and the
 * variables that configure it, are no part of ours. Compared are the calls to the judge, the verdicts and the figures.
 *
 * @module
 */
import { matchFiles } from "../../../../resources_servers/legal_agent_bench/deliverables.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { type Environment, startRowServer } from "../environment-server.ts";
import { type FixtureRow, isObject, type JsonObject, readRows, rowsOf } from "../rows.ts";

/** The config keys of the variables of the original's verifier. */
function configOf(variables: JsonObject): JsonObject {
  const given = (name: string, key: string, read: (text: string) => unknown = Number) =>
    variables[name] === undefined ? {} : { [key]: read(String(variables[name])) };
  const text = (value: string) => value;
  return {
    judge_model_server: { type: "responses_api_models", name: "judge" },
    ...{ failed_judge_scores_zero: true, judge_retry_delay_factor: 0 },
    ...given("LAB_JUDGE_PARALLELISM", "judge_parallelism"),
    ...given("LAB_JUDGE_MAX_RETRIES", "judge_max_retries"),
    ...given("LAB_JUDGE_STRUCTURED_OUTPUT", "judge_structured_output", (value) => value === "true"),
    ...given("LAB_JUDGE_PARSE_REPAIR_ATTEMPTS", "judge_parse_repair_attempts"),
    ...given("LEGAL_AGENT_BENCH_REWARD_MODE", "reward_mode", text),
  };
}

function textOf(content: unknown): string {
  return isObject(content)
    ? Buffer.from(String(content["base64"]), "base64").toString("utf8")
    : String(content);
}

/** Our own sentences replace those of the original about replies that cannot be read. */
const NO_REASONING = "Judge response did not include parseable reasoning.";

async function runTask(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const { expected } = row;
  const figures = expected["reward_json"] as JsonObject;
  // The original ends such a run with a reward of 0; here the server or the row is refused, or the judge fails.
  const isBroken = figures["verifier_error"] !== undefined;
  const variables = row["env"] as JsonObject;
  const given = { ...row, config: configOf(variables), judge_outputs: row["judge_replies"] };
  const run = await startRowServer(environment, given).catch((error: unknown) => {
    if (isBroken) return undefined;
    throw error;
  });
  if (!run) return undefined;
  try {
    const jar = run.server.newJar();
    const task = { title: "Task title", instructions: "Do it.", criteria: row["criteria"] };
    const params = { input: [] };
    const seed = await run.server.post("/seed_session", { responses_create_params: params, ...task }, jar);
    if (seed.status !== 200) return isBroken ? undefined : `seed_session: ${seed.status} ${seed.text}`;
    for (const [name, content] of Object.entries(row["files"] as JsonObject))
      await run.server.post("/write_file", { path: name, content: textOf(content) }, jar);
    const response = { id: "r", created_at: 0, model: "m", object: "response", output: [] };
    const fields = { parallel_tool_calls: true, tool_choice: "auto", tools: [] };
    const body = { responses_create_params: params, ...task, response: { ...response, ...fields } };
    const reply = await run.server.post("/verify", body, jar);
    if (isBroken) return reply.body["reward"] === 0 ? undefined : `reward ${reply.body["reward"]}`;
    const calls = run.scripted.calls.map(({ body: asked }) => ({
      max_tokens: asked["max_tokens"],
      structured: asked["response_format"] !== undefined,
    }));
    const wanted = rowsOf(expected["judge_calls"]).map(({ max_tokens, structured }) => ({
      max_tokens,
      structured,
    }));
    const results = rowsOf((expected["scores"] as JsonObject)["criteria_results"]).map(
      ({ error_type: _type, reasoning, ...rest }) => ({
        ...rest,
        reasoning: reasoning === NO_REASONING ? "<text>" : reasoning,
      }),
    );
    return (
      difference(reply.body, figures, "reward", { subset: true, relative: 1e-12 }) ??
      difference(reply.body["criteria_results"], results, "criteria_results") ??
      difference(calls, wanted, "judge_calls")
    );
  } finally {
    await run.close();
  }
}

function runMatch({ deliverables, actual_files, expected }: FixtureRow): string | undefined {
  const names = deliverables as Record<string, string>;
  const found = matchFiles(Object.values(names), actual_files as string[]);
  const files = Object.fromEntries(
    Object.entries(names).map(([key, name]) => [key, found.get(name) ?? name]),
  );
  return difference(files, expected, "files");
}

export const adapter: Adapter = {
  rows: async (file) => (await readRows(file)).filter(({ kind }) => kind !== "verifier_env"),
  caseOf: (row, environment) => () =>
    row["kind"] === "match_deliverables" ? runMatch(row) : runTask(row, environment),
};
