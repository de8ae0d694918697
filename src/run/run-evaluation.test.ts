import { readdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, expectTypeOf, it, vi } from "vitest";
import { z } from "zod";
import { defineAgent, defineModel, defineResourcesServer, HttpError } from "../index.ts";
import { compare, exportRollouts, loadRollouts, reverify, runEvaluation, startServers } from "./index.ts";
import type { Rollout } from "./run-evaluation.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-run-"));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true, force: true });
});

const answer = (text: string) => ({
  id: "resp_1",
  created_at: 0,
  model: "parrot",
  object: "response" as const,
  output: [
    {
      id: "msg_1",
      type: "message" as const,
      role: "assistant" as const,
      status: "completed" as const,
      content: [{ type: "output_text" as const, text, annotations: [] }],
    },
  ],
  parallel_tool_calls: true,
  tool_choice: "auto" as const,
  tools: [],
});

/** Repeats the question. */
const parrot = defineModel({
  responses: async ({ params }) => answer(JSON.stringify(params.input)),
});

const quiz = defineResourcesServer({
  row: z.looseObject({ answer: z.string() }),
  reverifyMode: "stateless",
  verify: ({ row, response }) => ({ reward: JSON.stringify(response.output).includes(row.answer) ? 1 : 0 }),
});

const row = (input: string, wanted: string) => ({ responses_create_params: { input }, answer: wanted });
const rows = [row("one", "one"), row("two", "two"), row("three", "four")];
const source = { environment: quiz, model: parrot };

it("evaluates an environment of the program in memory, with repeats and intervals", async () => {
  vi.stubEnv("TMPDIR", directory);
  const run = runEvaluation(source, { input: rows, repeats: 3, concurrency: 2 });
  const seen: string[] = [];
  for await (const event of run.events) seen.push(event.type);
  const result = await run.result;
  expectTypeOf(result.rollouts).toEqualTypeOf<Rollout[]>();
  expect(result).toMatchObject({ completed: 9, failed: 0, paths: undefined });
  expect(result.rollouts.map(({ reward }) => reward).sort()).toEqual([0, 0, 0, 1, 1, 1, 1, 1, 1]);
  const [agent] = result.summary?.agents ?? [];
  expect(agent?.agent).toBe("environment_agent");
  expect(agent?.statistics).toMatchObject({ tasks: 3, rollouts: 9 });
  expect(agent?.statistics?.reward.value).toBeCloseTo(2 / 3);
  expect(agent?.statistics?.reward.low).not.toBeNull();
  expect(seen.filter((type) => type === "outcome")).toHaveLength(9);
  expect(seen.indexOf("prepared")).toBeLessThan(seen.indexOf("server"));
  expect(seen.at(-1)).toBe("summarized");
  // The directory of control sockets stays: runs of the same user share it.
  expect(readdirSync(directory).filter((name) => name !== `nemo-gym-${process.getuid?.()}`)).toEqual([]);
});

it("runs every row once before it repeats one, if a limit may end the run", async () => {
  const output = path.join(directory, "run.jsonl");
  const order = async (options: object) => {
    await runEvaluation(source, { input: rows.slice(0, 2), repeats: 2, output, ...options }).result;
    const lines = (await readFile(path.join(directory, "run_materialized_inputs.jsonl"), "utf8")).trim();
    const keys = lines.split("\n").map((line) => JSON.parse(line) as Record<string, number>);
    for (const name of readdirSync(directory))
      if (name.startsWith("run")) await rm(path.join(directory, name), { recursive: true });
    return keys.map(({ _ng_task_index: task, _ng_rollout_index: rollout }) => `${task}-${rollout}`).join(" ");
  };
  expect(await order({})).toBe("0-0 0-1 1-0 1-1");
  expect(await order({ runTimeoutSeconds: 600 })).toBe("0-0 1-0 0-1 1-1");
  expect(await order({ runTimeoutSeconds: 600, repeatOrder: "depth" })).toBe("0-0 0-1 1-0 1-1");
});

it("reports that rows are samples and not the dataset of a benchmark", async () => {
  const told = async (input: object[]) => {
    const run = runEvaluation(source, { input: input as typeof rows });
    const notices: string[] = [];
    for await (const event of run.events) if (event.type === "notice") notices.push(event.text);
    await run.result;
    return notices.filter((text) => text.includes("3 example rows, not trivia:")).length;
  };
  expect(await told(rows.map((sample) => ({ ...sample, sample_data: true, sample_of: "trivia" })))).toBe(2);
  expect(await told(rows)).toBe(0);
});

it("writes files that can be read, compared, exported and scored again", async () => {
  const output = path.join(directory, "a.jsonl");
  const other = path.join(directory, "b.jsonl");
  const { paths } = await runEvaluation(source, { input: rows, output }).result;
  expect(JSON.parse(await readFile(paths.statistics, "utf8")).coverage).toMatchObject({ ok: 3 });
  await runEvaluation(source, {
    input: [rows[0], rows[1], row("three", "three")].flatMap((r) => r ?? []),
    output: other,
  }).result;
  const rewards: unknown[] = [];
  for await (const { reward } of loadRollouts(output)) rewards.push(reward);
  expect(rewards.sort()).toEqual([0, 1, 1]);
  const comparison = await compare(output, other, { matchBy: "index" });
  expect(comparison).toMatchObject({ common_tasks: 3, wins: 1, losses: 0, ties: 2 });
  const report = await exportRollouts({
    rolloutsPath: output,
    outputPath: path.join(directory, "sft.jsonl"),
    format: "sft",
    filters: { rewardMin: 1 },
  });
  expect(report.written).toBe(2);
  const again = reverify(source, { rollouts: output, output: path.join(directory, "again.jsonl") });
  expect(await again.result).toMatchObject({ completed: 3, warning: undefined });
  const withoutModel = { rollouts: output, output: path.join(directory, "third.jsonl") };
  expect(await reverify({ environment: quiz }, withoutModel).result).toMatchObject({ completed: 3 });
});

it("uses an agent of the program", async () => {
  const silent = defineAgent({
    responses: async ({ cookies }) => ({ response: answer("nothing"), cookies }),
    run: async ({ row }) => ({ ...row, response: answer("nothing"), reward: 0.5 }),
  });
  const { rollouts } = await runEvaluation({ ...source, agent: silent }, { input: rows }).result;
  expect(rollouts.map(({ reward }) => reward)).toEqual([0.5, 0.5, 0.5]);
});

it("starts servers that a program can call and use for several evaluations", async () => {
  const servers = await startServers({ ...source, name: "quiz" }, { head: false });
  try {
    expect(servers.instances.map(({ process_name }) => process_name)).toEqual([
      "quiz",
      "quiz_agent",
      "policy_model",
    ]);
    const given = { client: servers.client, agents: ["quiz_agent"] };
    const { summary } = await runEvaluation({ ...source, name: "quiz" }, { input: rows, servers: given })
      .result;
    expect(summary?.coverage).toMatchObject({ ok: 3, expected: 3 });
  } finally {
    await servers.close();
  }
});

it("rejects the result and the events with a typed error", async () => {
  const run = runEvaluation(source, { input: path.join(directory, "absent.jsonl") });
  const read = async () => {
    for await (const _event of run.events);
  };
  await expect(read()).rejects.toMatchObject({ code: "CONFIG_PATH_NOT_FOUND" });
  await expect(run.result).rejects.toThrow("Input file not found");
  await expect(runEvaluation(source, { input: [] }).result).rejects.toMatchObject({
    code: "ROLLOUT_INPUT_EMPTY",
  });
});

it("names rows in memory by index, not by a temporary file", async () => {
  const withoutAnswer = { responses_create_params: { input: "two" } };
  const rejected = await runEvaluation(source, {
    input: [rows[0] as object, withoutAnswer] as never,
  }).result.catch((error: Error) => error);
  expect(rejected).toMatchObject({ code: "ROLLOUT_ROWS_REFUSED" });
  expect((rejected as Error).message).toMatch(/- input\[1\]: .*answer/);
  expect(String((rejected as Error).stack)).not.toContain("input.jsonl");
  await expect(runEvaluation(source, { input: [] }).result).rejects.toThrow("input has no rows");
});

it("names a row that is not JSON", async () => {
  const circle: Record<string, unknown> = row("two", "two");
  circle["self"] = circle;
  const rejected = runEvaluation(source, { input: [...rows, circle] }).result;
  await expect(rejected).rejects.toMatchObject({
    code: "ROLLOUT_ROW_NOT_JSON",
    message: expect.stringMatching(/^input\[3\]: .*contains itself/),
  });
});

it("names example rows by their dataset, not by the file of all examples", async () => {
  const files = ["one", "two"].map((name) => path.join(directory, `${name}.jsonl`));
  await writeFile(files[0] ?? "", `${JSON.stringify(rows[0])}\n`);
  await writeFile(
    files[1] ?? "",
    [rows[1], { responses_create_params: { input: "two" } }]
      .map((one) => `${JSON.stringify(one)}\n`)
      .join(""),
  );
  const datasets = files.map((jsonl_fpath) => ({ name: "example", type: "example", jsonl_fpath }));
  const values = { environment_agent: { responses_api_agents: { simple_agent: { datasets } } } };
  await expect(runEvaluation({ ...source, values }).result).rejects.toThrow(
    `  - ${files[1]}:2: answer: Field required\n`,
  );
});

it("stops with its signal and returns the finished rollouts", async () => {
  const controller = new AbortController();
  const slow = defineModel({
    responses: async ({ signal }) => {
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      return answer("never");
    },
  });
  const run = runEvaluation({ environment: quiz, model: slow }, { input: rows, signal: controller.signal });
  for await (const { type } of run.events) if (type === "started") setTimeout(() => controller.abort(), 50);
  expect(await run.result).toMatchObject({ completed: 0, cancelled: 3, summary: undefined, rollouts: [] });
});

it("rejects a resume with changed skills", async () => {
  const skill = path.join(directory, "skills", "units", "SKILL.md");
  await mkdir(path.dirname(skill), { recursive: true });
  await writeFile(skill, "---\nname: units\n---\nUse SI units.\n");
  const input = path.join(directory, "rows.jsonl");
  await writeFile(input, rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const options = {
    input,
    output: path.join(directory, "run.jsonl"),
    skills: path.join(directory, "skills"),
  };
  await runEvaluation(source, options).result;
  await expect(runEvaluation(source, { ...options, resume: true }).result).resolves.toBeDefined();
  await writeFile(skill, "---\nname: units\n---\nUse imperial units.\n");
  await expect(runEvaluation(source, { ...options, resume: true }).result).rejects.toThrow(
    /collection\.skills\.hash/,
  );
});

it("counts tool calls that threw an exception but not error responses", async () => {
  const calls = (...names: string[]) => ({
    ...answer(""),
    output: names.map((name, index) => ({
      type: "function_call" as const,
      call_id: `call_${index}`,
      name,
      arguments: JSON.stringify({ page: 3 }),
    })),
  });
  const reader = defineModel({
    responses: async ({ params }) =>
      JSON.stringify(params.input).includes("function_call_output")
        ? answer("done")
        : calls("open", "open", "reject", "count"),
  });
  const input = z.object({ page: z.number() });
  const library = defineResourcesServer({
    tools: {
      open: {
        input,
        run: ({ input: { page } }) => {
          throw new RangeError(`there is no page ${page}`);
        },
      },
      reject: {
        input,
        run: () => {
          throw new HttpError(404, "not found");
        },
      },
      count: { input: z.object({ page: z.string() }), run: () => 1 },
    },
    verify: () => ({ reward: 1 }),
  });
  const { progress, rollouts, completed } = await runEvaluation(
    { environment: library, model: reader },
    { input: [row("one", "one"), row("two", "two")] },
  ).result;
  expect(completed).toBe(2);
  const raised = { server: progress.tool_exceptions[0]?.server, message: "RangeError: there is no page 3" };
  expect(progress.tool_exceptions).toEqual([{ ...raised, count: 4 }]);
  expect(rollouts.map((each) => each["_ng_tool_exceptions"])).toEqual([
    { ...raised, count: 2 },
    { ...raised, count: 2 },
  ]);
});
