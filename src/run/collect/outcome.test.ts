import { describe, expect, it } from "vitest";
import { GymError } from "../../base/errors.ts";
import { JsonTextError } from "../../base/python/json/json-loads.ts";
import { copyWith } from "../../base/python/json/key-order.ts";
import { ServerCallError } from "../../servers/calls/errors.ts";
import {
  DeadlineExceeded,
  type Outcome,
  outcomeOfError,
  outcomeOfReply as outcomeOfReplyFrom,
  RolloutCancelled,
} from "./outcome.ts";
import { failureRow, outputRow } from "./output-row.ts";

const outcomeOfReply = (reply: unknown) => outcomeOfReplyFrom(reply, "kiln_agent");
const failureOf = (outcome: Outcome) => (outcome.status === "failed" ? outcome.failure : outcome);

describe("outcomeOfReply", () => {
  it("completes a reply without sentinels", () => {
    expect(outcomeOfReply({ reward: 0, _ng_failure_class: null })).toMatchObject({ status: "completed" });
  });

  it.each([
    [null, "null"],
    [Number.NaN, "NaN"],
    [Number.POSITIVE_INFINITY, "Infinity"],
    ["1", "a string"],
    [{ value: 1 }, "an object"],
  ])("fails permanently with the reward %j, and names the server", (reward, shown) => {
    const outcome = outcomeOfReply({ reward });
    expect(outcome).toMatchObject({
      failure: { class: "verifier_error", stage: "verify", retryable: false },
      persist: true,
    });
    expect(failureOf(outcome)).toMatchObject({ message: expect.stringContaining("kiln_agent") });
    expect(failureOf(outcome)).toMatchObject({ message: expect.stringContaining(shown) });
  });

  it.each([
    [1, 1],
    [-0.5, -0.5],
    [undefined, undefined],
    [true, 1],
    [false, 0],
  ])("completes with the reward %j, written as %j", (reward, written) => {
    expect(outcomeOfReply({ reward })).toMatchObject({ status: "completed", row: { reward: written } });
  });

  it("reads a judge failure", () => {
    const reply = {
      reward: 0,
      _ng_failure_class: "judge_failed",
      _ng_failure_judge_error: "TimeoutError: judge",
    };
    expect(outcomeOfReply(reply)).toEqual({
      status: "failed",
      failure: { class: "judge_failed", stage: "verify", retryable: true, message: "TimeoutError: judge" },
      row: reply,
      persist: true,
    });
  });

  it("reads terminal and unpersisted failures", () => {
    expect(
      outcomeOfReply({ _ng_failure_class: "timeout_exceeded", _ng_failure_terminal: true }),
    ).toMatchObject({
      failure: { class: "timeout_exceeded", stage: "run", retryable: false, terminal: true },
      persist: true,
    });
    expect(outcomeOfReply({ _ng_no_persist: 1, _ng_failure_class: "kill_shaped" })).toMatchObject({
      failure: { class: "kill_shaped", retryable: true },
      persist: false,
    });
    expect(outcomeOfReply({ _ng_no_persist: true })).toMatchObject({ status: "failed", persist: false });
  });

  it.each([[null], [[]], ["text"], [undefined]])("rejects %j", (reply) => {
    expect(failureOf(outcomeOfReply(reply))).toMatchObject({ class: "invalid_response", stage: "run" });
  });
});

const call = (status: number | undefined, info: Partial<ServerCallError["info"]>) =>
  new ServerCallError("policy", status, { class: "agent_error", retryable: false, message: "m", ...info });
const coded = (code: string) => Object.assign(new Error(code), { code });

describe("outcomeOfError", () => {
  it.each<[string, unknown, object]>([
    [
      "a rejected key",
      call(401, { class: "provider_auth", stage: "model", retryable: true }),
      { class: "provider_auth", stage: "model", retryable: false },
    ],
    [
      "a rate limit",
      call(429, { class: "provider_rate_limit", stage: "model" }),
      { class: "provider_rate_limit", retryable: true },
    ],
    [
      "a gateway timeout",
      call(504, { class: "timeout", stage: "model", retryable: true }),
      { class: "timeout", retryable: true },
    ],
    [
      "a provider failure",
      call(503, { class: "provider_error", stage: "model", retryable: true }),
      { class: "provider_error", retryable: true },
    ],
    [
      "a rejected request",
      call(422, { class: "invalid_request", stage: "model" }),
      { class: "invalid_request", retryable: false },
    ],
    [
      "a class that the server reports",
      call(500, { class: "verifier_error", stage: "verify", retryable: true }),
      { class: "verifier_error", stage: "verify" },
    ],
    [
      "a rejected row",
      call(422, { class: "invalid_row", stage: "seed" }),
      { class: "invalid_row", stage: "seed", retryable: false },
    ],
    ["a refused connection", coded("ECONNREFUSED"), { class: "connection", stage: "run", retryable: true }],
    ["a slow answer", coded("UND_ERR_HEADERS_TIMEOUT"), { class: "timeout", retryable: true }],
    ["a timeout", new DOMException("late", "TimeoutError"), { class: "timeout" }],
    [
      "a deadline",
      new DeadlineExceeded("60 s are over", "tool"),
      { class: "timeout", stage: "tool", message: "60 s are over" },
    ],
    ["an answer that is not JSON", new JsonTextError("unexpected", 0), { class: "invalid_response" }],
    ["anything else", new GymError("X", "odd"), { class: "agent_error", retryable: false, message: "odd" }],
  ])("classifies %s", (_, error, expected) => {
    expect(failureOf(outcomeOfError(error))).toMatchObject(expected);
  });

  it("uses the stage that the caller knows", () => {
    expect(failureOf(outcomeOfError(new Error("x"), { stage: "verify" }))).toMatchObject({
      class: "verifier_error",
      stage: "verify",
    });
    expect(failureOf(outcomeOfError("x", { stage: "tool" }))).toMatchObject({
      class: "tool_error",
      stage: "tool",
    });
  });

  it("uses the abort reason, not the error that it caused", () => {
    const broken = coded("ECONNRESET");
    const cancelled = AbortSignal.abort(new RolloutCancelled("stopped by the user"));
    expect(outcomeOfError(broken, { signal: cancelled })).toEqual({
      status: "cancelled",
      message: "stopped by the user",
    });
    expect(outcomeOfError(broken, { signal: AbortSignal.abort() })).toMatchObject({ status: "cancelled" });
    const late = AbortSignal.abort(new DeadlineExceeded("late", "model"));
    expect(failureOf(outcomeOfError(broken, { signal: late }))).toMatchObject({
      class: "timeout",
      stage: "model",
    });
  });

  it("does not persist a rollout without budget", () => {
    const failure = {
      class: "budget_exhausted",
      stage: "model",
      retryable: false,
      message: "spent",
    } as const;
    const broke = new ServerCallError("model", 402, failure);
    expect(outcomeOfError(broke)).toMatchObject({ failure: { class: "budget_exhausted" }, persist: false });
  });

  it("truncates long messages", () => {
    expect(failureOf(outcomeOfError(new Error("x".repeat(10_000))))).toMatchObject({
      message: "x".repeat(2000),
    });
  });
});

describe("rows", () => {
  const input = {
    q: 1,
    agent_ref: { name: "a" },
    _ng_task_index: 3,
    _ng_rollout_index: 1,
    skills_ref: { hash: "x" },
    _ng_attempt_index: 2,
  };

  it("replaces keys in place and appends the rest in order", () => {
    const row = copyWith(
      outputRow({ agent_ref: "old", ng_trajectory: "old", reward: 1 }, { ...input, _ng_rollout_id: "r" }),
      { ng_model_call_capture: {}, ng_trajectory: {} },
    );
    expect(Object.keys(row)).toEqual([
      "agent_ref",
      "ng_trajectory",
      "reward",
      "_ng_task_index",
      "_ng_rollout_index",
      "skills_ref",
      "_ng_attempt_index",
      "_ng_rollout_id",
      "ng_model_call_capture",
    ]);
    expect(row["agent_ref"]).toEqual({ name: "a" });
    expect(outputRow({}, { _ng_task_index: 0, _ng_rollout_index: 0, agent_ref: null })).toEqual({
      _ng_task_index: 0,
      _ng_rollout_index: 0,
      agent_ref: null,
    });
  });

  it("writes failures with their sentinels and masks the sample", () => {
    const failure = { class: "timeout", stage: "model", retryable: true, message: "late" } as const;
    expect(failureRow(failure, input)).toEqual({
      ...input,
      _ng_failure_class: "timeout",
      _ng_failure: failure,
      mask_sample: true,
      instance_config: { mask_sample: true },
    });
    expect(failureRow({ ...failure, terminal: true }, input, { reply: { reward: 0 } })).toMatchObject({
      reward: 0,
      _ng_failure_terminal: true,
    });
  });
});
