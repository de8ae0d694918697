import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const state = { "0": { event_id: 0, duration: 30, constraint: null, min_time: "9:00", max_time: "17:00" } };
const reply = 'Done: [{"event_id": 0, "event_name": "x", "start_time": "10:00", "duration": 30}]';

async function verify(row: Record<string, unknown>, ...output: unknown[]) {
  const server = await createTestServer(definition);
  return server.verify(verifyBody(row, ...output));
}

describe("calendar", () => {
  it("rewards a calendar that meets all constraints, and returns only the reward", async () => {
    const { body } = await verify({ exp_cal_state: state }, messageItem(reply));
    expect(body.reward).toBe(1);
    expect(Object.keys(body).sort()).toEqual([
      "failure_kind",
      "failure_reason",
      "mask_sample",
      "response",
      "responses_create_params",
      "reward",
    ]);
  });

  it("reads only the first part of the last item", async () => {
    expect((await verify({ exp_cal_state: state }, messageItem("hm", reply))).body.reward).toBe(0);
    const reasoning = { id: "rs", type: "reasoning", summary: [] };
    expect((await verify({ exp_cal_state: state }, messageItem(reply), reasoning)).body.reward).toBe(0);
    expect((await verify({ exp_cal_state: {} })).body.reward).toBe(0);
  });

  it("treats a refusal as an empty answer", async () => {
    const refusal = { ...messageItem(), content: [{ type: "refusal", refusal: "no" }] };
    expect((await verify({ exp_cal_state: {} }, refusal)).body.reward).toBe(0);
  });

  it("refuses a row without the expected state", async () => {
    const { status, text } = await verify({}, messageItem(reply));
    expect([status, text.includes("exp_cal_state")]).toEqual([422, true]);
  });

  it.each([
    ["five megabytes", "[{".repeat(2_500_000)],
    ["deep nesting", `[${'{"a":'.repeat(100_000)}`],
    ["lone surrogates", '[{"event_id": "\ud800"}]'],
    ["NaN", '[{"event_id": NaN, "start_time": "9:00", "duration": NaN}]'],
    [
      "huge numbers",
      `[{"event_id": 0, "start_time": "${"9".repeat(5000)}:00", "duration": ${"9".repeat(5000)}}]`,
    ],
  ])("scores %s as 0", async (_name, text) => {
    const { status, body } = await verify({ exp_cal_state: state }, messageItem(text));
    expect([status, body.reward]).toEqual([200, 0]);
  });
});
