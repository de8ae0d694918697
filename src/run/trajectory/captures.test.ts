import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Row } from "../../records/files/jsonl-rows.ts";
import type { ModelCallLine } from "../../servers/capture/model-call-log.ts";
import { turnBoundaryText } from "../collect/turn-boundaries.ts";
import { RolloutCaptures, withTrajectory } from "./captures.ts";
import { openCaptures } from "./open-captures.ts";
import type { StandardTrajectory } from "./trajectory.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nemo-gym-captures-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const input = { _ng_task_index: 0, _ng_rollout_index: 0, agent_ref: { name: "agent" } };
const MODEL = { type: "responses_api_models", name: "policy" } as const;

function recordCall(id: string, responseId: string, own: Partial<ModelCallLine> = {}): void {
  const line: ModelCallLine = {
    model_call_id: id,
    dialect: "responses",
    model_ref: MODEL,
    started_at: 1,
    completed_at: 2,
    latency_ms: 10,
    latency_ttft_ms: 9,
    status_code: 200,
    error_category: null,
    request: { input: "q" },
    response: {
      id: responseId,
      model: "m",
      status: "completed",
      output: [],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
    ...own,
  };
  appendFileSync(join(directory, "0-0.capture.jsonl"), `${JSON.stringify(line)}\n`);
}

const gapsOf = (value: unknown): string[] =>
  ((value as { gaps?: { code: string }[] }).gaps ?? []).map(({ code }) => code);

async function attached(row: Row, captures: RolloutCaptures = observing()): Promise<Row> {
  return (await captures.attach(row, input, "completed")).row;
}
const observing = () => new RolloutCaptures({ modelCallDirectory: directory, onNotice: () => {} });

describe("model calls", () => {
  it("adds calls, sums and the standard trajectory to the row", async () => {
    recordCall("c1", "resp_1");
    const row = await attached({ reward: 1 });
    expect(Object.keys(row)).toEqual(["reward", "ng_model_call_capture", "ng_trajectory"]);
    expect(row["ng_model_call_capture"]).toMatchObject({
      rollout_id: "0-0",
      metrics: { num_calls: 1, tokens_total: 2 },
      calls: [{ model_call_id: "c1", call_index: 0, response_id: "resp_1" }],
    });
    expect(row["ng_model_call_capture"]).not.toHaveProperty("gaps");
    expect(JSON.stringify(row["ng_model_call_capture"])).not.toContain('"request"');
    expect(row["ng_trajectory"]).toMatchObject({
      schema_version: "1.0",
      task_id: "0",
      rollout_id: "0-0",
      model_calls: [
        {
          model_call_id: "c1",
          duration_ms: 10,
          request: { input: "q" },
          response: { id: "resp_1" },
          response_metadata: { model_ref: MODEL, status_code: 200, latency_ttft_ms: 9 },
          token_stats: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        },
      ],
    });
    expect(gapsOf(row["ng_trajectory"])).toEqual(["turns_unavailable", "conversation_unavailable"]);
  });

  it("records missing data as gaps", async () => {
    const nothing = await attached({});
    expect(gapsOf(nothing["ng_model_call_capture"])).toEqual(["model_call_capture_no_records"]);
    expect(gapsOf(nothing["ng_trajectory"])).toContain("model_calls_unavailable");

    recordCall("c1", "r1");
    appendFileSync(join(directory, "0-0.capture.jsonl"), '{"model_call_id":"to');
    appendFileSync(join(directory, "0-0.capture.jsonl"), "rn\n");
    recordCall("c2", "r2");
    writeFileSync(join(directory, "0-0.capture.incomplete"), "");
    const { ng_model_call_capture: capture } = await attached({});
    expect(capture).toMatchObject({
      calls: [{ call_index: 0 }, { call_index: 2 }],
      gaps: [
        { code: "model_call_capture_records_unreadable", detail: "count=1" },
        { code: "model_call_capture_incomplete" },
      ],
    });

    rmSync(join(directory, "0-0.capture.jsonl"));
    rmSync(join(directory, "0-0.capture.incomplete"));
    mkdirSync(join(directory, "0-0.capture.jsonl"));
    const unreadable = await attached({});
    expect(gapsOf(unreadable["ng_model_call_capture"])).toEqual(["model_call_capture_unreadable"]);
  });

  it("removes recordings of an earlier run with the same id", async () => {
    recordCall("stale", "r");
    writeFileSync(join(directory, "0-0.capture.incomplete"), "");
    await observing().prepare(input);
    expect(readdirSync(directory)).toEqual([]);
    await observing().prepare(input);
    await observing().prepare({ _ng_rollout_id: "x".repeat(300) });
  });

  it("does not change rows without an id", async () => {
    const { row } = await observing().attach({ reward: 1 }, { _ng_rollout_id: "../x" }, "completed");
    expect(row).toEqual({ reward: 1 });
  });
});

const invocation = (id: string, calls: object[], more: object = {}) => ({
  kind: "agent_invocation",
  invocation_id: id,
  model_calls: calls,
  conversation: [{ role: "user", content: "q" }],
  ...more,
});
const turn = (id: string, no: number, timestamp: number | null, calls: object[] = []) => ({
  invocation_id: id,
  turn_no: no,
  timestamp,
  model_calls: calls,
});
const trajectory = (row: Row) => row["ng_trajectory"] as StandardTrajectory;

describe("trajectories", () => {
  it("joins the agent's references with the recorded calls", async () => {
    recordCall("c1", "r1");
    recordCall("c2", "r2");
    const byResponse = { model_ref: MODEL, response_id: "r1" };
    const row = await attached({
      ng_trajectory: {
        schema_version: "1.0",
        invocations: [invocation("main", [byResponse, { model_call_id: "c2" }], { surplus: 1 })],
        turns: [turn("main", 1, 5, [byResponse])],
        tool_calls: [{ invocation_id: "main", tool_call_id: "t", tool_name: "add", status: "odd" }],
        gaps: [{ code: "resolution_unavailable" }, { code: "resolution_unavailable" }],
      },
    });
    const whole = { model_call_id: "c1", model_ref: MODEL, response_id: "r1" };
    expect(trajectory(row)).toMatchObject({
      invocations: [{ model_calls: [whole, { model_call_id: "c2", response_id: "r2" }], status: "unknown" }],
      turns: [{ task_id: "0", rollout_id: "0-0", model_calls: [whole], answer: null, step_count: null }],
      tool_calls: [{ tool_name: "add", status: "unknown", output: null, timing_source: null }],
      gaps: [{ code: "resolution_unavailable" }],
    });
    expect(trajectory(row).invocations[0]).not.toHaveProperty("surplus");
  });

  it("records gaps for unmatched, ambiguous and conflicting references", async () => {
    recordCall("c1", "same");
    recordCall("c2", "same");
    recordCall("judge", "j", { model_ref: { type: "responses_api_models", name: "judge" } });
    const row = await attached({
      ng_trajectory: {
        invocations: [
          invocation("a", [
            { model_call_id: "missing" },
            { model_ref: MODEL, response_id: "same" },
            { model_call_id: "c1" },
          ]),
          invocation("b", [{ model_call_id: "c1" }]),
        ],
        turns: [turn("a", 1, 1)],
      },
    });
    expect(trajectory(row).gaps).toEqual([
      { code: "model_call_reference_unmatched", invocation_id: "a", detail: "missing" },
      { code: "model_call_reference_ambiguous", invocation_id: "a", detail: "same" },
      { code: "model_call_reference_conflict", invocation_id: "b", detail: "c1" },
      { code: "model_call_ownership_unavailable", detail: "capture:c2:call_index=1" },
      { code: "model_call_ownership_unavailable", detail: "capture:judge:call_index=2" },
    ]);
  });

  it("includes observations and resolves their references", async () => {
    recordCall("before", "r0");
    recordCall("compacting", "r1");
    const row = await attached({
      ng_agent_observations: {
        source: "harness",
        records: [
          invocation("root", [{ model_call_id: "before" }, { model_call_id: "compacting" }]),
          { kind: "tool_call", invocation_id: "root", tool_call_id: "t", tool_name: "bash" },
          {
            kind: "context_compaction",
            invocation_id: "root",
            before_model_call: { model_ref: MODEL, response_id: "r0" },
            model_calls: [{ model_ref: MODEL, response_id: "r1" }],
            after_model_call: { model_call_id: "gone" },
          },
          { kind: "sandbox", sandbox_id: "s" },
        ],
        gaps: [
          { code: "model_call_reference_ambiguous", detail: "of an earlier join" },
          { code: "model_call_ownership_unavailable", detail: "capture:old:call_index=3" },
        ],
      },
    });
    const gap = {
      code: "model_call_reference_unmatched",
      invocation_id: "root",
      detail: "after_model_call:gone",
    };
    // A second join reports only gaps that still exist.
    expect(await attached(row)).toMatchObject({
      ng_agent_observations: { gaps: [gap] },
    });
    expect(row["ng_agent_observations"]).toMatchObject({
      source: "harness",
      records: [
        { model_calls: [{ response_id: "r0" }, { response_id: "r1" }] },
        { kind: "tool_call" },
        { before_model_call: { model_call_id: "before" }, model_calls: [{ model_call_id: "compacting" }] },
        { kind: "sandbox" },
      ],
      gaps: [gap],
    });
    expect(trajectory(row)).toMatchObject({
      invocations: [{ invocation_id: "root" }],
      tool_calls: [{ tool_name: "bash" }],
      gaps: [gap, { code: "turns_unavailable" }],
    });
  });

  it("completes the agent's tool calls with observed ones, and with the output that the model received", async () => {
    const shown = { type: "function_call_output", call_id: "t1", output: "shown" };
    const told = { invocation_id: "root", tool_name: "bash", output: "told" };
    const seen = { kind: "tool_call", invocation_id: "root", duration_ms: 7 };
    const row = await attached({
      ng_trajectory: {
        invocations: [invocation("root", [], { conversation: [shown] })],
        turns: [turn("root", 1, 1)],
        tool_calls: [
          { ...told, tool_call_id: "t1", status: "completed" },
          { ...told, tool_call_id: "t2", status: "completed" },
        ],
      },
      ng_agent_observations: {
        source: "harness",
        records: [
          { ...seen, tool_call_id: "t1" },
          { ...seen, tool_call_id: "t2", status: "timeout", timing_source: "artifact" },
          { ...seen, tool_call_id: "t3" },
        ],
      },
    });
    expect(trajectory(row).tool_calls).toMatchObject([
      { tool_call_id: "t1", tool_name: "bash", status: "completed", duration_ms: 7, output: "shown" },
      { tool_call_id: "t2", status: "timeout", timing_source: "artifact", output: "told" },
      { tool_call_id: "t3", tool_name: null, status: "unknown", output: null },
    ]);
  });

  it("completes the agent's model calls with recorded ones, including raw bodies", async () => {
    recordCall("c1", "r1");
    recordCall("c2", "r2", { request: null, request_raw: "[1", response: null, response_raw: "<html>" });
    const told = {
      model_call_id: "c1",
      request: "mine",
      response_metadata: { model: "told", response_id: null },
      token_stats: { reasoning_tokens: 5 },
    };
    const row = await attached({ ng_trajectory: { model_calls: [told] } });
    expect(trajectory(row).model_calls).toMatchObject([
      {
        model_call_id: "c1",
        request: { input: "q" },
        response_metadata: { model: "m", response_id: "r1" },
        token_stats: { reasoning_tokens: 5, prompt_tokens: 1 },
      },
      { model_call_id: "c2", request: "[1", response: "<html>" },
    ]);
  });

  it("corrects the identity of a trajectory, and omits redacted bodies", async () => {
    recordCall("c1", "r1");
    const row = await attached({
      ng_trajectory: {
        task_id: "7",
        rollout_id: "0-0",
        turns: [turn("a", 1, 1)],
        gaps: [{ code: "multimodal_history_redacted" }],
      },
    });
    expect(trajectory(row)).toMatchObject({ task_id: "0", turns: [{ task_id: "0" }] });
    expect(trajectory(row).gaps[0]).toEqual({
      code: "producer_trajectory_identity_mismatch",
      detail: "task_id",
    });
    expect(trajectory(row).model_calls).toMatchObject([{ request: null, response: null }]);
  });

  it("reports a missing conversation only if no invocation has one", async () => {
    const empty = invocation("b", [], { conversation: [] });
    const some = await attached({ ng_trajectory: { invocations: [invocation("a", []), empty] } });
    expect(gapsOf(some["ng_trajectory"])).not.toContain("conversation_unavailable");
    const none = await attached({ ng_trajectory: { invocations: [empty] } });
    expect(trajectory(none).gaps).toContainEqual({ code: "conversation_unavailable" });
  });

  it("sorts turns by time, invocation and number", async () => {
    const row = await attached({
      ng_trajectory: {
        invocations: [invocation("a", []), invocation("b", [])],
        turns: [turn("b", 1, null), turn("b", 2, 3), turn("a", 2, 3), turn("a", 1, 3), turn("b", 3, 1)],
      },
    });
    expect(trajectory(row).turns.map(({ invocation_id, turn_no }) => `${invocation_id}${turn_no}`)).toEqual([
      "b3",
      "a1",
      "a2",
      "b2",
      "b1",
    ]);
  });

  it("accepts malformed and repeated reports", async () => {
    const row = await attached({ ng_trajectory: { turns: "none" }, ng_agent_observations: 5 });
    expect(gapsOf(row["ng_trajectory"])).toEqual(
      expect.arrayContaining([
        "producer_trajectory_invalid",
        "agent_observations_invalid",
        "agent_observation_join_failed",
      ]),
    );
    expect(gapsOf(row["ng_model_call_capture"])).toContain("agent_observation_join_failed");
    const twice = await attached({
      ng_trajectory: {
        invocations: [invocation("a", []), invocation("a", [])],
        turns: [turn("a", 1, 1), turn("a", 1, 2)],
      },
    });
    expect(trajectory(twice).invocations).toHaveLength(1);
    expect(trajectory(twice).turns).toHaveLength(1);
  });

  it("standardizes reported trajectories without captures, and is idempotent", () => {
    expect(withTrajectory({ reward: 1 }, input)).toEqual({ reward: 1 });
    const once = withTrajectory(
      { ng_trajectory: { invocations: [invocation("a", [])], model_calls: [{ model_call_id: "kept" }] } },
      { ...input, problem_id: 17 },
    );
    expect(trajectory(once)).toMatchObject({ task_id: "17", model_calls: [{ model_call_id: "kept" }] });
    expect(withTrajectory(once, { ...input, problem_id: 17 })).toEqual(once);
  });
});

describe("openCaptures", () => {
  const open = (config: Row, agents: Record<string, Row> = {}) =>
    openCaptures({
      config,
      agentConfig: (agent) => agents[agent],
      findFile: (path) => path,
      onNotice: () => {},
    });

  it("opens nothing by default", async () => {
    expect(await open({})).toBeUndefined();
    expect(
      await open({ token_id_capture: { enabled: true, dir: directory, rebuild_response: false } }),
    ).toBeUndefined();
  });

  it("rebuilds the rollouts of agents with the flag", async () => {
    const config = { token_id_capture: { enabled: true, dir: directory } };
    const captures = await open(config, { agent: { token_id_capture: true } });
    expect((await captures?.attach({}, input, "completed"))?.row).toHaveProperty("mask_sample", true);
    const none = await open(config);
    expect((await none?.attach({}, input, "completed"))?.row).toEqual({});
  });

  it("rejects an incomplete config", async () => {
    await expect(open({ observability_enabled: true })).rejects.toMatchObject({ code: "CAPTURE_CONFIG" });
  });
});

it("describes how turns continue each other", () => {
  expect(turnBoundaryText(null)).toBeUndefined();
  expect(turnBoundaryText({ extend: 3, fork: 0, lost: 0 })).toContain("every turn continues");
  expect(turnBoundaryText({ extend: 3, fork: 1, lost: 0 })).toContain("25.0 %");
});
