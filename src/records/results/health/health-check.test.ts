import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Row } from "../../files/jsonl-rows.ts";
import { HEALTH_CHECKS } from "./checks.ts";
import { checkHealth, type HealthOptions } from "./health-check.ts";
import type { QualitySummary, RolloutVerdict } from "./quality-summary.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nemo-gym-health-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const MODEL = { type: "responses_api_models", name: "policy" };

function call(
  id: string,
  own: { metadata?: Row; stats?: Row; startedAt?: number | null; response?: unknown } = {},
) {
  return {
    model_call_id: id,
    started_at: own.startedAt === undefined ? 1 : own.startedAt,
    completed_at: 2,
    duration_ms: 10,
    request: {},
    response: "response" in own ? own.response : { output: [{ type: "message", content: "hi" }] },
    response_metadata: {
      response_id: `resp_${id}`,
      model_ref: MODEL,
      status_code: 200,
      response_status: "completed",
      finish_reason: null,
      error_category: null,
      ...own.metadata,
    },
    token_stats: { prompt_tokens: 10, completion_tokens: 2, ...own.stats },
  };
}

function turn(number: number, calls: string[], own: Row = {}) {
  return {
    invocation_id: "root",
    turn_no: number,
    answer: [{ type: "message", content: [{ type: "output_text", text: "hi" }] }],
    reasoning_content: null,
    model_calls: calls.map((id) => ({ model_call_id: id })),
    ...own,
  };
}

/** A healthy rollout of one turn. */
function rollout(own: Row = {}, trajectory: Row = {}): Row {
  return {
    _ng_task_index: 0,
    _ng_rollout_index: 0,
    reward: 1,
    response: { usage: { input_tokens: 10, output_tokens: 2 } },
    ng_trajectory: {
      schema_version: "1.0",
      rollout_id: null,
      invocations: [{ invocation_id: "root", model_calls: [{ model_call_id: "c1" }] }],
      turns: [turn(1, ["c1"])],
      model_calls: [call("c1")],
      tool_calls: [],
      gaps: [],
      ...trajectory,
    },
    ...own,
  };
}

async function check(
  rows: (Row | string)[],
  options: Partial<HealthOptions> = {},
): Promise<{ summary: QualitySummary; verdicts: RolloutVerdict[] }> {
  const rolloutsPath = join(directory, "rollouts.jsonl");
  writeFileSync(
    rolloutsPath,
    rows.map((row) => `${typeof row === "string" ? row : JSON.stringify(row)}\n`).join(""),
  );
  const { summary, verdictsPath, summaryPath } = await checkHealth({ rolloutsPath, ...options });
  expect(JSON.parse(readFileSync(summaryPath, "utf8"))).toEqual(summary);
  const lines = readFileSync(verdictsPath, "utf8").split("\n").slice(0, -1);
  return { summary, verdicts: lines.map((line) => JSON.parse(line) as RolloutVerdict) };
}

/** The findings of one row. */
async function findings(row: Row | string) {
  const { verdicts } = await check([row]);
  return verdicts[0]?.findings;
}

it("reports no finding for a healthy rollout", async () => {
  const { summary, verdicts } = await check([rollout()]);
  expect(verdicts).toEqual([
    {
      _ng_task_index: 0,
      _ng_rollout_index: 0,
      rollout_id: "0-0",
      verdict: "healthy",
      findings: [],
      unobserved: [],
    },
  ]);
  expect(summary.run.verdicts).toEqual({ healthy: 1, unhealthy: 0, unobserved: 0 });
  expect(Object.keys(summary.run.issues)).toEqual(HEALTH_CHECKS);
  expect(HEALTH_CHECKS).toHaveLength(14);
  expect(summary.run.artifacts).toMatchObject({ records: 1, captures: 1 });
  expect(summary.run.stats.tokens).toEqual({
    prompt: 10,
    completion: 2,
    capture_prompt: 10,
    capture_completion: 2,
  });
  expect(summary.tasks).toEqual({ 0: { repeats: 1, healthy: 1, unhealthy: 0, unobserved: 0, flags: [] } });
});

describe("findings", () => {
  const failed = { status_code: 500, error_category: "upstream_error" };

  it.each<[string, Row, unknown]>([
    [
      "turns without content",
      rollout({}, { turns: [{ ...turn(1, []), answer: [] }] }),
      [
        { check: "rollout_missing_agent_turns", detail: { reason: expect.any(String) } },
        { check: "agent_turn_hollow", locator: { turn: 1 }, detail: { reason: expect.any(String) } },
      ],
    ],
    [
      "a hollow turn",
      rollout(
        {},
        { turns: [turn(1, ["c1"]), { ...turn(2, []), answer: [{ type: "message", content: " " }] }] },
      ),
      [{ check: "agent_turn_hollow", locator: { turn: 2 }, detail: { reason: expect.any(String) } }],
    ],
    [
      "an answer without tokens",
      rollout(
        { response: { usage: { input_tokens: 10, output_tokens: 0 } } },
        { model_calls: [call("c1", { stats: { completion_tokens: 0 } })] },
      ),
      [
        {
          check: "model_call_zero_completion_tokens",
          locator: { call_id: "c1" },
          detail: { completion_tokens: 0 },
        },
      ],
    ],
    [
      "unknown token counts",
      rollout({}, { model_calls: [call("c1", { stats: { prompt_tokens: null } })] }),
      [
        {
          check: "model_call_missing_token_counts",
          locator: { call_id: "c1" },
          detail: { missing: ["prompt_tokens"] },
        },
      ],
    ],
    [
      "a reference to an unrecorded call",
      rollout({}, { turns: [turn(1, ["c1", "c9"])] }),
      [
        {
          check: "trajectory_capture_mismatch",
          locator: { call_id: "c9" },
          detail: { kind: "missing_captured_call", count: 0 },
        },
      ],
    ],
    [
      "a reference that matches two calls",
      rollout({}, { model_calls: [call("c1"), call("c1")] }),
      [
        {
          check: "trajectory_capture_mismatch",
          locator: { call_id: "c1" },
          detail: { kind: "duplicated_captured_call", count: 2 },
        },
      ],
    ],
    [
      "a call claimed by two invocations",
      rollout(
        {},
        {
          gaps: [{ code: "model_call_reference_conflict", invocation_id: "sub", detail: "c1" }],
        },
      ),
      [
        {
          check: "trajectory_capture_mismatch",
          locator: { call_id: "c1" },
          detail: {
            kind: "conflicting_call_ownership",
            observation_gap: "model_call_reference_conflict",
            invocation_id: "sub",
          },
        },
      ],
    ],
    [
      "a failed last call",
      rollout(
        { response: { usage: { input_tokens: 20, output_tokens: 4 } } },
        {
          turns: [turn(1, ["c1", "c2"])],
          model_calls: [call("c2", { startedAt: 5, metadata: failed }), call("c1")],
        },
      ),
      [
        {
          check: "rollout_ended_on_failed_model_call",
          locator: { call_id: "c2" },
          detail: { status: 500, error_category: "upstream_error", observed_calls: 2, successful_calls: 1 },
        },
        {
          check: "model_call_failed",
          locator: { call_id: "c2" },
          detail: { status: 500, error_category: "upstream_error", terminal: true },
        },
      ],
    ],
    [
      "a failed call that was retried",
      rollout(
        { response: { usage: { input_tokens: 20, output_tokens: 4 } } },
        {
          turns: [turn(1, ["c1", "c2"])],
          model_calls: [
            call("c1", { metadata: { response_status: "failed" } }),
            call("c2", { startedAt: 5 }),
          ],
        },
      ),
      [
        {
          check: "model_call_failed",
          locator: { call_id: "c1" },
          detail: { status: 200, error_category: null, terminal: false },
        },
      ],
    ],
    [
      "token counts that differ",
      rollout({ response: { usage: { input_tokens: 11, output_tokens: 2 } } }),
      [
        {
          check: "rollout_token_count_mismatch",
          detail: {
            transcript_prompt: 11,
            transcript_completion: 2,
            capture_prompt: 10,
            capture_completion: 2,
          },
        },
      ],
    ],
    [
      "a truncated generation without an answer",
      rollout(
        {},
        {
          model_calls: [
            call("c1", {
              metadata: { finish_reason: "max_output_tokens" },
              response: { output: [{ type: "message", content: [{ type: "output_text", text: "" }] }] },
            }),
          ],
        },
      ),
      [
        {
          check: "model_call_runaway_generation",
          locator: { call_id: "c1" },
          detail: { finish_reason: "max_output_tokens" },
        },
      ],
    ],
    [
      "an invalid trajectory",
      rollout({ ng_trajectory: { schema_version: "1.0", turns: 5 } }),
      [
        {
          check: "record_unreadable",
          detail: { reason: expect.stringContaining("ng_trajectory.turns"), error: "ValidationError" },
        },
      ],
    ],
  ])("%s", async (_name, row, expected) => {
    expect(await findings(row)).toEqual(expected);
  });

  it("accepts a truncated answer that has content", async () => {
    const chat = { choices: [{ finish_reason: "length", message: { content: null, reasoning: "hm" } }] };
    const cut = call("c1", { metadata: { finish_reason: "length" }, response: chat });
    expect(await findings(rollout({}, { model_calls: [cut] }))).toEqual([]);
  });

  it("does not report a context overflow as a failure of the endpoint", async () => {
    const overflow = call("c1", {
      metadata: {
        finish_reason: "length",
        upstream_attempted: true,
        upstream_status_code: 400,
        local_response_reason: "context_length_exceeded",
      },
      stats: { completion_tokens: 0, prompt_tokens: null },
      response: {},
    });
    expect(await findings(rollout({}, { model_calls: [overflow] }))).toEqual([]);
  });

  it("does not guess the last of several calls without times", async () => {
    const mixed = [call("c1", { startedAt: null }), call("c2", { startedAt: null, metadata: failed })];
    const kinds = (await findings(rollout({}, { model_calls: mixed })))?.map((finding) => finding.check);
    expect(kinds).toEqual([]);
    const allFailed = mixed.map((one) => ({
      ...one,
      response_metadata: { ...one.response_metadata, ...failed },
    }));
    const found = await findings(rollout({}, { model_calls: allFailed }));
    expect(found?.map((finding) => finding.check)).toEqual([
      "rollout_ended_on_failed_model_call",
      "model_call_failed",
    ]);
  });

  it("binds by model and response id without a call id", async () => {
    const refs = [{ model_ref: MODEL, response_id: "resp_c1" }];
    expect(await findings(rollout({}, { turns: [{ ...turn(1, []), model_calls: refs }] }))).toEqual([]);
    const other = [{ model_ref: { ...MODEL, name: "judge" }, response_id: "resp_c1" }];
    expect(await findings(rollout({}, { turns: [{ ...turn(1, []), model_calls: other }] }))).toMatchObject([
      { check: "trajectory_capture_mismatch", locator: { call_id: "resp_c1" } },
    ]);
  });
});

describe("unobserved checks", () => {
  const unobserved = async (row: Row) => (await check([row])).verdicts[0];
  const callChecks = HEALTH_CHECKS.filter((id) => id.startsWith("model_call_"));

  it.each<[string, Row, string[]]>([
    ["no trajectory", { _ng_task_index: 0, _ng_rollout_index: 0 }, HEALTH_CHECKS.slice(3, -2)],
    [
      "a trajectory whose conversion failed",
      rollout({}, { gaps: [{ code: "trajectory_projection_failed" }] }),
      HEALTH_CHECKS.slice(3, -2),
    ],
    [
      "turns",
      rollout({}, { turns: [], gaps: [{ code: "turns_unavailable" }] }),
      ["rollout_missing_agent_turns", "agent_turn_hollow"],
    ],
    [
      "calls",
      rollout({}, { gaps: [{ code: "model_call_capture_incomplete" }] }),
      [
        "rollout_ended_on_failed_model_call",
        ...callChecks.slice(0, 2),
        "trajectory_capture_mismatch",
        "model_call_failed",
        "rollout_token_count_mismatch",
        "model_call_runaway_generation",
      ],
    ],
    ["usage", rollout({ response: {} }), ["rollout_token_count_mismatch"]],
    [
      "the response of a truncated call",
      rollout({}, { model_calls: [call("c1", { metadata: { finish_reason: "length" }, response: null })] }),
      ["model_call_runaway_generation"],
    ],
  ])("%s", async (_name, row, expected) => {
    expect(await unobserved(row)).toMatchObject({
      verdict: "unobserved",
      unobserved: expected,
      findings: [],
    });
  });
});

it("names unreadable lines, and identifies rows without an index by their position", async () => {
  const { verdicts, summary } = await check(["", "{broken", "[1]", JSON.stringify({ reward: 1 })]);
  expect(verdicts.map(({ _ng_task_index: task, verdict }) => [task, verdict])).toEqual([
    [2, "unobserved"],
    ["__unreadable_record__:input-0:line-2", "unhealthy"],
    ["__unreadable_record__:input-0:line-3", "unhealthy"],
  ]);
  expect(verdicts[1]).toMatchObject({
    rollout_id: "__unreadable_record__:input-0:line-2-0",
    findings: [
      {
        check: "record_unreadable",
        locator: { source_file: "rollouts.jsonl", line: 2 },
        detail: { error: "JSONDecodeError" },
      },
    ],
    unobserved: HEALTH_CHECKS.slice(0, -2).filter((id) => id !== "record_unreadable"),
  });
  expect(summary.run.issues["record_unreadable"]).toBe(2);
});

it("flags all lines of a repeated rollout, and counts them as one repeat", async () => {
  const twice = rollout({ _ng_rollout_index: 1 });
  const { verdicts, summary } = await check([twice, rollout(), twice]);
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(["healthy", "unhealthy", "unhealthy"]);
  expect(verdicts[2]?.findings).toEqual([
    { check: "rollout_duplicate_identity", detail: { duplicate_count: 2 } },
  ]);
  expect(summary.tasks["0"]).toMatchObject({ repeats: 2, healthy: 1, unhealthy: 1 });
});

it("flags tasks with only unhealthy repeats or without a successful call", async () => {
  const failed = rollout({}, { model_calls: [call("c1", { metadata: { status_code: 503 } })] });
  const { summary } = await check([
    failed,
    { ...failed, _ng_rollout_index: 1 },
    { ...failed, _ng_task_index: 1 },
    rollout({ _ng_task_index: 1, _ng_rollout_index: 1 }),
  ]);
  expect(summary.tasks["0"]?.flags).toEqual([
    "task_consistently_unhealthy",
    "task_no_successful_model_calls",
  ]);
  expect(summary.tasks["1"]?.flags).toEqual([]);
  expect(summary.run.issues["task_consistently_unhealthy"]).toBe(1);
  expect(summary.run.stats.model_call_errors).toEqual({
    total: 3,
    by_status: { 503: 3 },
    rollouts_affected: 3,
    ended_on_error: 3,
  });
  expect(summary.run.artifacts.coverage["task_consistently_unhealthy"]).toEqual({
    evaluated: 2,
    unobserved: 0,
    ignored: 0,
  });
});

it("skips ignored checks", async () => {
  const row = rollout({ response: { usage: { input_tokens: 11, output_tokens: 2 } } });
  const { summary } = await check([row], { ignoredChecks: ["rollout_token_count_mismatch"] });
  expect(summary.run.verdicts.healthy).toBe(1);
  expect(summary.run.ignored_checks).toEqual(["rollout_token_count_mismatch"]);
  expect(summary.run.artifacts.coverage["rollout_token_count_mismatch"]).toEqual({
    evaluated: 0,
    unobserved: 0,
    ignored: 1,
  });
  await expect(check([row], { ignoredChecks: ["nope"] })).rejects.toThrow(
    "Unknown rollout health check(s): nope. Known: check_execution_error,",
  );
});

it("does not replace the reports of another run", async () => {
  const check = async (name: string) => {
    writeFileSync(join(directory, name), `${JSON.stringify(rollout())}\n`);
    writeFileSync(join(directory, name.replace(".jsonl", "_manifest.json")), "{}");
    const { summaryPath, verdictsPath } = await checkHealth({ rolloutsPath: join(directory, name) });
    return [summaryPath, verdictsPath].map((file) => file.slice(directory.length + 1));
  };
  const usual = ["quality_summary.json", "rollout_verdicts.jsonl"];
  expect(await check("a.jsonl")).toEqual(usual);
  expect(await check("a.jsonl")).toEqual(usual);
  writeFileSync(join(directory, "quality_summary.json"), "of a");
  expect(await check("b.jsonl")).toEqual(["b_quality_summary.json", "b_rollout_verdicts.jsonl"]);
  expect(readFileSync(join(directory, "quality_summary.json"), "utf8")).toBe("of a");
  expect(await check("rollouts.jsonl")).toEqual(usual);
});
