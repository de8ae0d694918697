import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Row } from "../../files/jsonl-rows.ts";
import { atifRollouts } from "./atif-rollouts.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "atif-"));
});
afterEach(() => rm(directory, { recursive: true }));

const agent = { name: "relay", version: "3", model_name: "m" };
const asked = { step_id: 1, source: "user", message: "6*7?" };
const answer = { step_id: 2, source: "agent", message: "42" };
const trajectory = (own: Row = {}): Row => ({
  schema_version: "ATIF-v1.7",
  trajectory_id: "t-1",
  agent,
  steps: [asked, answer],
  ...own,
});
const entry = (own: Row = {}): Row => ({
  trajectory_path: "a.json",
  _ng_task_index: 0,
  _ng_rollout_index: 0,
  ...own,
});
const input = (rollout: number): Row => ({
  responses_create_params: { input: "6*7?", temperature: 0.5 },
  expected: "42",
  agent_ref: { name: "solver" },
  _ng_task_index: 0,
  _ng_rollout_index: rollout,
});
const idOf = (...parts: string[]) =>
  `atif_${createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, 20)}`;
const write = (name: string, rows: Row[]) =>
  writeFile(join(directory, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

async function rolloutsOf(files: Record<string, Row | string>, manifest: Row[], limit?: number) {
  for (const [name, content] of Object.entries(files))
    await writeFile(join(directory, name), typeof content === "string" ? content : JSON.stringify(content));
  await write("manifest.jsonl", manifest);
  await write("in.jsonl", [input(0), input(1), input(2)]);
  const sources = {
    manifestPath: join(directory, "manifest.jsonl"),
    materializedInputsPath: join(directory, "in.jsonl"),
    limit,
  };
  const rollouts: Row[] = [];
  for await (const rollout of atifRollouts(sources)) rollouts.push(rollout);
  return rollouts;
}
const refusal = (own: Row) =>
  rolloutsOf({ "a.json": trajectory(own) }, [entry()]).then(
    () => "accepted",
    (error: Error) => error.message.replace(/^.*a\.json': /, ""),
  );

it("makes a response of a trajectory, with the request of its input row", async () => {
  const steps = [
    { step_id: 1, source: "system", message: "Be brief." },
    { ...asked, step_id: 2 },
    {
      step_id: 3,
      source: "agent",
      message: "",
      reasoning_content: "I multiply.",
      tool_calls: [{ tool_call_id: "c", function_name: "multiply", arguments: { b: 7, a: 6 } }],
      observation: { results: [{ source_call_id: "c", extra: { tool_result: { value: 42 } } }] },
      metrics: { prompt_tokens: 10, completion_tokens: 3, cached_tokens: 4, extra: { reasoning_tokens: 1 } },
      timestamp: "2026-01-02T03:04:05.5Z",
    },
    {
      step_id: 4,
      source: "agent",
      message: [{ type: "text", text: "42" }],
      metrics: { prompt_tokens: 20, completion_tokens: 2, cached_tokens: 6, extra: { reasoning_tokens: 0 } },
    },
  ];
  const final_metrics = { total_prompt_tokens: 30, total_completion_tokens: 5, total_steps: 4 };
  const given = JSON.stringify(trajectory({ session_id: "s", steps, final_metrics })).replace(
    '"a":6',
    '"a":6.0',
  );
  const [rollout] = await rolloutsOf({ "a.json": given }, [entry({ _ng_rollout_index: 1 })]);
  expect(rollout).toEqual({
    agent_ref: { name: "solver" },
    _ng_task_index: 0,
    _ng_rollout_index: 1,
    _ng_atif_provenance: {
      trajectory_id: "t-1",
      session_id: "s",
      source_sha256: createHash("sha256").update(given).digest("hex"),
      schema_version: "ATIF-v1.7",
      projection_status: "complete",
    },
    response: {
      id: idOf("t-1", "response"),
      created_at: Date.UTC(2026, 0, 2, 3, 4, 5, 500) / 1000,
      model: "m",
      object: "response",
      temperature: 0.5,
      parallel_tool_calls: false,
      tool_choice: "auto",
      tools: [],
      status: "completed",
      usage: {
        input_tokens: 30,
        input_tokens_details: { cached_tokens: 10 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 1 },
        total_tokens: 35,
      },
      output: [
        {
          type: "reasoning",
          id: idOf("t-1", "reasoning", "3"),
          summary: [{ type: "summary_text", text: "I multiply." }],
        },
        {
          type: "function_call",
          id: idOf("t-1", "function-call", "c"),
          call_id: "c",
          name: "multiply",
          arguments: '{"a":6.0,"b":7}',
          status: "completed",
        },
        {
          type: "function_call_output",
          id: idOf("t-1", "function-output", "c", "0"),
          call_id: "c",
          output: '{"value":42}',
          status: "completed",
        },
        {
          type: "message",
          id: idOf("t-1", "message", "4"),
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "42", annotations: [] }],
        },
      ],
    },
  });
});

describe("rejects", () => {
  it.each<[string, Row, string]>([
    ["another version", { schema_version: "ATIF-v1.6" }, "schema_version: "],
    ["an unknown field", { mood: "good" }, 'Unrecognized key: "mood"'],
    ["a continuation", { continued_trajectory_ref: "b" }, "continues elsewhere"],
    ["subagents", { subagent_trajectories: [{}] }, "subagents"],
    ["no answer", { steps: [asked] }, "nothing to score"],
    ["steps out of order", { steps: [asked, { ...answer, step_id: 3 }] }, "steps.1.step_id: 3, where 2"],
    [
      "a user who speaks later",
      {
        steps: [
          { ...answer, step_id: 1 },
          { ...asked, step_id: 2 },
        ],
      },
      "a step of the user after",
    ],
    ["copied context", { steps: [asked, { ...answer, is_copied_context: true }] }, "copied context"],
    ["a model of the user", { steps: [{ ...asked, model_name: "m" }, answer] }, "only steps of the agent"],
    ["several calls in a step", { steps: [asked, { ...answer, llm_call_count: 2 }] }, "have no order"],
    [
      "an image",
      {
        steps: [
          asked,
          {
            ...answer,
            message: [{ type: "image", source: { media_type: "image/png", path: "a.png" } }],
          },
        ],
      },
      "images cannot be scored",
    ],
    [
      "an unanswered call",
      {
        steps: [
          asked,
          {
            ...answer,
            message: "",
            tool_calls: [{ tool_call_id: "c", function_name: "f", arguments: {} }],
          },
        ],
      },
      "tool call c: has no result",
    ],
    [
      "several models",
      { steps: [asked, answer, { ...answer, step_id: 3, model_name: "other" }] },
      "several models: m, other",
    ],
    ["half a total", { final_metrics: { total_prompt_tokens: 3 } }, "needs both"],
    [
      "totals that are not the sum",
      {
        steps: [asked, { ...answer, metrics: { prompt_tokens: 1, completion_tokens: 1 } }],
        final_metrics: { total_prompt_tokens: 3, total_completion_tokens: 1 },
      },
      "not the sums",
    ],
    [
      "another rollout's export",
      { extra: { nemo_gym: { source: { task_index: 5 } } } },
      "was exported with task_index 5, not 0",
    ],
  ])("%s", async (_name, own, message) => {
    expect(await refusal(own)).toContain(message);
  });
});

it("rejects manifests that do not fit, with the line", async () => {
  const files = { "a.json": trajectory(), "b.json": trajectory({ session_id: "other" }) };
  const refused = (...manifest: Row[]) =>
    rolloutsOf(files, manifest).then(
      () => "accepted",
      (error: Error) => error.message,
    );
  expect(await refused()).toContain("lists no trajectories");
  expect(await refused(entry({ note: 1 }))).toContain(
    'manifest.jsonl:1: the entry: Unrecognized key: "note"',
  );
  expect(await refused(entry(), entry())).toContain("manifest.jsonl:2: rollout 0-0 is listed twice");
  expect(await refused(entry({ _ng_task_index: 9 }))).toContain("rollout 0 of task 9 has no input in");
  expect(await refused(entry({ trajectory_path: "c.json" }))).toContain("c.json' does not exist");
  expect(await refused(entry({ expected_sha256: "0".repeat(64) }))).toContain("not the one in the manifest");
  const second = { _ng_rollout_index: 1, trajectory_path: "b.json" };
  expect(await refused(entry(), entry(second))).toContain(
    ":2: 'b.json': is the same trajectory as that of line 1",
  );
});

it("takes the first trajectories of the manifest with a limit", async () => {
  const second = entry({ _ng_rollout_index: 1, trajectory_path: "missing.json" });
  expect(await rolloutsOf({ "a.json": trajectory() }, [entry(), second], 1)).toHaveLength(1);
});
