import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Row } from "../../files/jsonl-rows.ts";
import { exportRollouts } from "./export.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "export-atif-"));
});
afterEach(() => rm(directory, { recursive: true }));

const MODEL = { type: "responses_api_models", name: "policy" };
const tokens = (prompt: number[], generation: number[]) => ({
  prompt_token_ids: prompt,
  generation_token_ids: generation,
  generation_log_probs: generation.map(() => -0.5),
});
const call = (id: string, own: Row = {}) => ({
  model_call_id: id,
  started_at: 1,
  completed_at: 2,
  response_metadata: { model: "m", model_ref: MODEL, status_code: 200, response_id: `resp_${id}`, ...own },
  token_stats: { prompt_tokens: 10, completion_tokens: 2, cached_tokens: 4, total_tokens: 12 },
});
const turn = (number: number, id: string) => ({
  invocation_id: "root",
  turn_no: number,
  timestamp: 1_700_000_000 + number,
  step_count: 1,
  model_calls: [{ model_call_id: id }],
});

const conversation: Row[] = [
  { role: "system", content: "Be brief.", type: "message" },
  { role: "user", content: [{ type: "input_text", text: "6*7?" }], type: "message" },
  { type: "reasoning", id: "r1", summary: [{ type: "summary_text", text: "I multiply." }] },
  {
    type: "function_call",
    id: "f1",
    call_id: "c1",
    name: "multiply",
    arguments: '{"a":6,"b":7}',
    ...tokens([1, 2], [3]),
  },
  { type: "function_call_output", call_id: "c1", output: "42" },
  {
    type: "message",
    id: "m1",
    role: "assistant",
    content: [{ type: "output_text", text: "42", annotations: [] }],
    ...tokens([1, 2, 3, 4], [5]),
  },
];

function rollout(index: number, own: { trajectory?: Row; invocation?: Row; conversation?: Row[] } = {}): Row {
  return {
    reward: 1,
    agent_ref: { name: "solver" },
    response: { output: [] },
    responses_create_params: { input: [], tools: [{ type: "function", name: "multiply" }] },
    _ng_task_index: 0,
    _ng_rollout_index: index,
    ng_trajectory: {
      schema_version: "1.0",
      task_id: "0",
      rollout_id: `0-${index}`,
      invocations: [
        {
          invocation_id: "root",
          status: "completed",
          duration_ms: 30,
          error_type: null,
          conversation: own.conversation ?? conversation,
          ...own.invocation,
        },
      ],
      turns: [turn(1, "a"), turn(2, "b")],
      model_calls: [call("a"), call("b")],
      tool_calls: [
        { tool_call_id: "c1", tool_name: "multiply", status: "completed", output: "42", duration_ms: 5 },
      ],
      gaps: [{ code: "resolution_unavailable", invocation_id: "root" }],
      ...own.trajectory,
    },
  };
}

async function exported(rows: Row[]) {
  const rolloutsPath = join(directory, "out.jsonl");
  const outputPath = join(directory, "trajectories");
  await writeFile(rolloutsPath, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const atif = { sessionId: "night", agentVersion: "2", exporterVersion: "0.1.0" };
  const report = await exportRollouts({ rolloutsPath, outputPath, format: "atif", atif, verifyTokens: true });
  return { report, outputPath };
}

it("writes one trajectory per rollout, and a manifest with their hashes", async () => {
  const { report, outputPath } = await exported([rollout(1), rollout(0)]);
  expect(report.written).toBe(2);
  expect(report.verifiedTokens).toEqual({ sequences: 4, tokens: 2 * (3 + 5), trained: 4 });
  expect((await readdir(outputPath)).sort()).toEqual(["0-0.json", "0-1.json", "manifest.jsonl"]);
  const text = await readFile(join(outputPath, "0-0.json"), "utf8");
  const manifest = (await readFile(join(outputPath, "manifest.jsonl"), "utf8")).split("\n");
  const hash = createHash("sha256").update(text).digest("hex");
  expect(manifest[0]).toBe(
    `{"_ng_rollout_index":0,"_ng_task_index":0,"expected_sha256":"${hash}","trajectory_path":"0-0.json"}`,
  );
  expect(text.endsWith("}\n")).toBe(true);
  expect(JSON.parse(text)).toEqual({
    schema_version: "ATIF-v1.7",
    session_id: "night",
    trajectory_id: "night:0:0",
    agent: {
      name: "solver",
      version: "2",
      model_name: "m",
      tool_definitions: [{ type: "function", name: "multiply" }],
    },
    steps: [
      { step_id: 1, source: "system", message: "Be brief." },
      { step_id: 2, source: "user", message: "6*7?" },
      {
        step_id: 3,
        timestamp: "2023-11-14T22:13:21.000Z",
        source: "agent",
        model_name: "m",
        message: "",
        reasoning_content: "I multiply.",
        tool_calls: [
          {
            tool_call_id: "c1",
            function_name: "multiply",
            arguments: { a: 6, b: 7 },
            extra: { nemo_gym: { source_item_id: "f1" } },
          },
        ],
        observation: {
          results: [{ source_call_id: "c1", content: "42", extra: { nemo_gym: { duration_ms: 5 } } }],
        },
        metrics: {
          prompt_tokens: 10,
          completion_tokens: 2,
          cached_tokens: 4,
          prompt_token_ids: [1, 2],
          completion_token_ids: [3],
          logprobs: [-0.5],
          extra: { total_tokens: 12 },
        },
        llm_call_count: 1,
        extra: {
          nemo_gym: {
            turn: { turn_no: 1, step_count: 1 },
            model_call: { model_call_id: "a", response_id: "resp_a", started_at: 1, completed_at: 2 },
            source_items: { reasoning_ids: ["r1"] },
          },
        },
      },
      expect.objectContaining({ step_id: 4, message: "42" }),
    ],
    final_metrics: {
      total_prompt_tokens: 20,
      total_completion_tokens: 4,
      total_cached_tokens: 8,
      total_steps: 4,
    },
    extra: {
      nemo_gym: {
        exporter: { name: "nemo-gym", version: "0.1.0" },
        source: {
          format: "ng_trajectory",
          schema_version: "1.0",
          task_id: "0",
          rollout_id: "0-0",
          task_index: 0,
          rollout_index: 0,
          invocation_id: "root",
          invocation_status: "completed",
          invocation_duration_ms: 30,
        },
        conversion: { profile: "ng-trajectory-to-atif-v1", status: "complete" },
      },
    },
  });
});

describe("rejects the whole export for", () => {
  const replaced = (index: number, item: Row) => conversation.with(index, item);

  it.each<[string, Row, string]>([
    ["no trajectory", { ...rollout(1), ng_trajectory: null }, "ng_trajectory: missing"],
    [
      "a gap",
      rollout(1, { trajectory: { gaps: [{ code: "turns_unavailable" }] } }),
      "incomplete (turns_unavailable)",
    ],
    [
      "an agent that did not finish",
      rollout(1, { invocation: { status: "incomplete" } }),
      "'incomplete' is not completed",
    ],
    [
      "a failed call",
      rollout(1, { trajectory: { model_calls: [call("a", { status_code: 500 }), call("b")] } }),
      "turns[0].model_calls: the model call failed",
    ],
    [
      "an unrecorded call",
      rollout(1, { trajectory: { model_calls: [call("b")] } }),
      "0 recorded calls for 1 references",
    ],
    [
      "a developer",
      rollout(1, { conversation: replaced(0, { role: "developer", content: "x", type: "message" }) }),
      "conversation[0]: role 'developer'",
    ],
    [
      "an unknown item",
      rollout(1, { conversation: replaced(2, { type: "web_search_call" }) }),
      "conversation[2].type: 'web_search_call'",
    ],
    [
      "an unknown field",
      rollout(1, { conversation: replaced(0, { role: "user", content: "x", phase: "final" }) }),
      "conversation[0].phase: is not known",
    ],
    [
      "an image",
      rollout(1, { conversation: replaced(1, { role: "user", content: [{ type: "input_image" }] }) }),
      "conversation[1].content[0]: is not a text",
    ],
    [
      "arguments that are not an object",
      rollout(1, { conversation: replaced(3, { ...conversation[3], arguments: "[1" }) }),
      "conversation[3].arguments: is not a JSON object",
    ],
    [
      "a call without result",
      rollout(1, { conversation: conversation.toSpliced(4, 1) }),
      "tool call c1: has no result",
    ],
    [
      "an output that the model did not receive",
      rollout(1, { trajectory: { tool_calls: [] } }),
      "tool call c1: no record",
    ],
    ["another agent", { ...rollout(1), agent_ref: { name: "other" } }, "another agent than 'solver'"],
    ["a repeated row", rollout(0), "rollout 0:0 occurs twice"],
  ])("%s", async (_name, row, problem) => {
    await expect(exported([rollout(0), row])).rejects.toThrow(problem);
    await expect(exported([rollout(0), row])).rejects.toThrow("line 2");
    expect((await readdir(directory)).sort()).toEqual(["out.jsonl"]);
  });
});

it("does not replace a directory", async () => {
  await exported([rollout(0)]);
  await expect(exported([rollout(0)])).rejects.toThrow("already exists; choose a new directory");
});
