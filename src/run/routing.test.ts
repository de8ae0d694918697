import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineModel, defineResourcesServer } from "../index.ts";
import { messageItem, modelResponse } from "../servers/hosting/response-items.ts";
import { runEvaluation } from "./index.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-routing-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const model = defineModel({
  responses: async ({ params }) => modelResponse(messageItem(JSON.stringify(params.input))),
});
const quiz = defineResourcesServer({
  row: z.looseObject({ answer: z.string() }),
  verify: ({ row, response }) => {
    if (row.answer === "broken") throw new Error("no verdict");
    return { reward: JSON.stringify(response.output).includes(row.answer) ? 1 : 0 };
  },
});

const agent = { type: "responses_api_agents", name: "quiz_agent" };
const turn = {
  entrypoint: "app.ts",
  agent_server: agent,
  resources_server: { type: "resources_servers", name: "quiz" },
  cleanup_timeout_seconds: 20,
};
const servers = {
  relayed: { environment_servers: { legacy_agent: { entrypoint: "app.ts", agent_server: agent } } },
  typed: { environment_servers: { single_agent_turn: turn } },
  flat: { environment_servers: { single_agent_turn_legacy: turn } },
};
const row = (input: string, answer = input) => ({ responses_create_params: { input }, answer });
const task = (id: string, answer = id) => ({
  task_id: { taskset: "words", task_id: id },
  task_input: { responses_create_params: { input: id }, task_data: { answer } },
});

async function run(values: object, input: readonly Record<string, unknown>[]) {
  const output = path.join(directory, "run.jsonl");
  const source = {
    environment: quiz,
    model,
    name: "quiz",
    cwd: directory,
    values: { ...servers, ...values },
  };
  const { summary } = await runEvaluation(source, { input, output, maxAttempts: 1 }).result;
  const lines = async (name: string) =>
    (await readFile(path.join(directory, name), "utf8"))
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, unknown>]));
  return { summary, rows: await lines("run.jsonl"), failures: await lines("run_failures.jsonl") };
}

describe("environment_routing_mode", () => {
  it("agent: rejects an agent that several servers name", async () => {
    await expect(run({}, [row("one")])).rejects.toThrow(/several environment servers: relayed, typed, flat/);
  });

  it.each(["relayed", "flat"])("legacy: sends every row to the named server (%s)", async (name) => {
    const { rows } = await run({ environment_routing_mode: "legacy", environment_server_name: name }, [
      row("one"),
      { ...row("two", "three"), task_source: "quiz", agent_ref: { name: "quiz_agent" } },
    ]);
    const kind = Object.keys(servers[name as "flat"].environment_servers)[0];
    expect(rows.map(({ reward }) => reward).toSorted()).toEqual([0, 1]);
    for (const each of rows)
      expect(each).toMatchObject({
        agent_ref: { name: "quiz_agent" },
        _ng_environment_server: name,
        _ng_result_type: kind,
      });
  });

  it("taskset: runs tasks as typed episodes", async () => {
    const routing = { environment_routing_mode: "taskset", environment_server_routes: { words: "typed" } };
    const { rows, failures, summary } = await run(routing, [task("a"), task("b", "z"), task("c", "broken")]);
    expect(rows.toSorted((left, right) => Number(right["reward"]) - Number(left["reward"]))).toMatchObject([
      { reward: 1, answer: "a", _ng_task_id: { taskset: "words", task_id: "a" } },
      { reward: 0, answer: "z", _ng_environment_server: "typed", _ng_result_type: "single_agent_turn" },
    ]);
    expect(rows.some((each) => "agent_ref" in each)).toBe(false);
    expect(failures).toMatchObject([
      { _ng_failure_class: "environment_server_failed", _ng_failure: { stage: "verify", retryable: true } },
    ]);
    expect(summary?.agents).toMatchObject([{ agent: "typed", statistics: { rollouts: 2 } }]);
  });

  it.each([
    [{ environment_routing_mode: "legacy" }, row("a"), /needs environment_server_name/],
    [{ environment_routing_mode: "legacy", environment_server_name: "flt" }, row("a"), /did you mean 'flat'/],
    [{ environment_routing_mode: "taskset" }, row("a"), /needs environment_server_routes/],
    [{ environment_routing_mode: "task" }, row("a"), /agent, legacy, taskset/],
    [
      { environment_routing_mode: "taskset", environment_server_routes: { words: "typed" } },
      row("a"),
      /no task/,
    ],
    [{ environment_server_routes: { other: "typed" } }, task("a"), /no route for the taskset "words"/],
    [
      { environment_routing_mode: "legacy", environment_server_name: "flat" },
      { ...row("a"), task_source: "x" },
      /bound to 'quiz'/,
    ],
  ])("rejects what does not fit before a model is called: %j", async (values, given, told) => {
    await expect(run(values, [given])).rejects.toThrow(told);
  });
});
