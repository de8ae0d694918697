import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { Cohorts } from "../../libraries/cohorts/cohorts.ts";
import { defineModel, defineResourcesServer, HttpError } from "../index.ts";
import { ConcurrencyLimit } from "./collect/concurrency.ts";
import { type EvaluationOptions, runEvaluation } from "./index.ts";

const SIZE = 4;
/** Rollouts whose first attempt fails. */
let unlucky: Set<string>;

let directory: string;
let output: string;
let modelCalls: number;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-cohorts-"));
  output = path.join(directory, "rollouts.jsonl");
  modelCalls = 0;
  unlucky = new Set();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const model = defineModel({
  responses: async () => {
    modelCalls++;
    return {
      id: "resp_1",
      created_at: 0,
      model: "m",
      object: "response",
      output: [
        {
          id: "msg_1",
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "Done.", annotations: [] }],
        },
      ],
      parallel_tool_calls: true,
      tool_choice: "auto",
      tools: [],
    };
  },
});

/** Rewards a rollout with its place, when all rollouts of its task are there. */
const environment = defineResourcesServer({
  config: z.object({
    size: z.number().default(SIZE),
    num_workers: z.number().max(1, "one process").nullish(),
  }),
  row: z.object({ _ng_task_index: z.number(), _ng_rollout_index: z.number() }),
  cohort: ({ size }) => size,
  start: ({ config }) =>
    new Cohorts<number, number>({
      size: config.size,
      collectionTimeoutMs: 20_000,
      evaluate: async (members) => members,
    }),
  async verify({ row: { _ng_task_index: task, _ng_rollout_index: slot }, state, signal }) {
    if (unlucky.delete(`${task}-${slot}`)) throw new HttpError(503, "Not now.");
    return { reward: await state.join({ key: String(task), slot }, slot, signal) };
  },
});

const rows = ["one", "two", "three"].map((input) => ({ responses_create_params: { input } }));
const run = (options: EvaluationOptions) => {
  const { events, result } = runEvaluation(
    { environment, model },
    { input: rows, repeats: SIZE, ...options },
  );
  const notices: string[] = [];
  const reading = (async () => {
    for await (const event of events) if (event.type === "notice") notices.push(event.text);
  })().catch(() => undefined);
  return { result: result.finally(() => reading), notices };
};

it("scores cohorts with as many rollouts at once as one cohort has", async () => {
  const { completed, rollouts } = await run({ concurrency: SIZE }).result;
  expect(completed).toBe(SIZE * rows.length);
  expect(rollouts?.map(({ reward }) => reward).sort()).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
});

it("keeps a slot for a member that is tried again", async () => {
  unlucky.add("0-1").add("1-3");
  const { completed, failed } = await run({ concurrency: SIZE }).result;
  expect({ completed, failed }).toEqual({ completed: SIZE * rows.length, failed: 0 });
});

it.each<[string, EvaluationOptions, string]>([
  [
    "a queue",
    { queue: { broker: { url: "nats://127.0.0.1:1" } } },
    "workers of a queue have processes of their own",
  ],
  ["too little concurrency", { concurrency: 3 }, "at least 4 rollouts must run at once"],
  ["repeats one after the other", { repeatOrder: "breadth" }, "use --repeat-order depth"],
  ["too few repeats", { repeats: 2 }, "task 0 has 2. Set --num-repeats 4"],
])("rejects %s before it starts", async (_, options, message) => {
  const rejected = await run({ output, ...options }).result.catch((error: unknown) => error);
  expect(rejected).toMatchObject({ code: "ROLLOUT_COHORT", message: expect.stringContaining(message) });
  expect(modelCalls).toBe(0);
});

it("resumes whole tasks, and leaves out those of which only some rollouts were written", async () => {
  await run({ output }).result;
  const lines = (await readFile(output, "utf8")).trimEnd().split("\n");
  const written = (line: string) => JSON.parse(line) as { _ng_task_index: number; _ng_rollout_index: number };
  // Task 0 is done, one rollout of task 1 was written, none of task 2.
  const kept = lines.filter((line) => {
    const { _ng_task_index: task, _ng_rollout_index: rollout } = written(line);
    return task === 0 || (task === 1 && rollout === 0);
  });
  await writeFile(output, kept.map((line) => `${line}\n`).join(""));
  modelCalls = 0;
  const { result, notices } = run({ output, resume: true });
  const { progress } = await result;
  expect(modelCalls).toBe(SIZE);
  expect(notices.join()).toContain("3 rollouts are left out");
  expect(notices.join()).toContain("(1)");
  expect(progress).toMatchObject({ completed: 9, failed: 3 });
});

it("keeps automatic concurrency above the size of a cohort", () => {
  const limit = new ConcurrencyLimit(null, 100);
  expect(limit.current).toBe(100);
  limit.failed("timeout", 10_000);
  expect(limit.current).toBe(100);
});
