import { createTestServer, functionCallItem, messageItem, modelResponse, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { type Action, readAction, refusal } from "./actions.ts";
import definition from "./app.ts";
import { type RegimeMix, Simulator } from "./network.ts";
import { rewardTerms, WEIGHTS } from "./reward.ts";

const row = { seed: 7, difficulty: 0.9, max_steps: 3 };
const noop = () => functionCallItem("noop", {});

async function open(given: object = row, config = {}) {
  const server = await createTestServer(definition, { config });
  const { response: _none, ...start } = verifyBody({ ...given });
  const reset = await server.post("/reset", start);
  const step = async (...items: object[]) =>
    (await server.post("/step", { ...start, response: modelResponse(...(items as never[])) })).body;
  const stepAs = async (id: string) =>
    (await server.post("/step", { ...start, response: modelResponse(noop()), _ng_step_request_id: id })).body;
  return { server, start, reset, step, stepAs };
}

describe("openair_congestion", () => {
  it("ends after max_steps, then has no episode", async () => {
    const { reset, step } = await open();
    expect(reset.body).toMatchObject({ info: { supports_explicit_close: true, backend: "replay", seed: 7 } });
    expect(reset.body.observation).toContain("Cell 1: DL PRB util");
    const replies = [await step(noop()), await step(noop()), await step(noop())];
    expect(replies.map(({ terminated, truncated }) => [terminated, truncated])).toEqual([
      [false, false],
      [false, false],
      [true, false],
    ]);
    const total = replies.reduce((sum, { reward }) => sum + reward, 0);
    expect(replies[2].info).toMatchObject({ n_steps: 3, guardrail_accepted: true });
    expect(replies[2].info.cumulative_reward).toBeCloseTo(total, 9);
    expect(await step(noop())).toMatchObject({
      reward: 0,
      truncated: true,
      info: { error: "no_active_episode" },
    });
  });

  it("is truncated by the steps of the agent, and needs a reset", async () => {
    const { server, step, start } = await open({ seed: 7 }, { agent_max_steps: 1 });
    expect(await step(noop())).toMatchObject({ terminated: false, truncated: true });
    const stranger = await server.post(
      "/step",
      { ...start, response: modelResponse(noop()) },
      server.newJar(),
    );
    expect(stranger.body).toMatchObject({ truncated: true, info: { error: "no_active_episode" } });
  });

  it("answers a repeated request with the same reply, and closes", async () => {
    const { server, start, stepAs } = await open();
    const first = await stepAs("a");
    expect(await stepAs("a")).toEqual(first);
    expect((await stepAs("b")).info.step_idx).toBe(2);
    expect((await server.post("/close", start)).status).toBe(200);
    expect((await stepAs("c")).info.error).toBe("no_active_episode");
  });

  it.each<[string, object[]]>([
    ["no_tool_call", [messageItem("I wait.")]],
    ["multiple_tool_calls", [noop(), noop()]],
    ["invalid_tool_call", [functionCallItem("reboot", {})]],
    ["invalid_tool_call", [functionCallItem("set_prb_cap", { cell_id: 0 })]],
    ["invalid_tool_call", [functionCallItem("set_scheduler_policy", { cell_id: "0", policy: "RR" })]],
    ["invalid_tool_call", [functionCallItem("set_mcs_bounds", "{bad" as never)]],
  ])("%s costs the penalty", async (error, items) => {
    const [calm, wrong] = [await open(), await open(row, { protocol_violation_penalty: -0.25 })];
    const [expected, reply] = [await calm.step(noop()), await wrong.step(...items)];
    expect(reply.info).toMatchObject({ error, protocol_violation: true, guardrail_accepted: false });
    expect(reply.reward).toBeCloseTo(expected.reward - 0.25, 12);
    expect(reply.info.tool_outputs).toHaveLength(items.filter((item) => "call_id" in item).length);
  });

  it("refuses the same call within two seconds", async () => {
    const { step } = await open();
    const call = () => functionCallItem("set_scheduler_policy", { cell_id: 0, policy: "RR" });
    expect((await step(call())).info.guardrail_accepted).toBe(true);
    const { info } = await step(call());
    expect(info).toMatchObject({ guardrail_accepted: false, reward_terms: { reject: -0.5 } });
    expect(info.rejection_reason).toContain("repeat within 2s");
    expect((await step(call())).info.guardrail_accepted).toBe(true);
  });

  it.each([
    { seed: -1 },
    { seed: 1, max_steps: 0 },
    { seed: 1, difficulty: 2 },
    { seed: 1, tier: "live" },
    {},
  ])("refuses the row %j", async (given) => {
    expect((await open(given)).reset.status).toBe(422);
  });
});

describe("the guardrail", () => {
  const { network } = new Simulator(1, 0.5, {});
  const ask = (name: string, args: object) =>
    refusal(readAction(name, JSON.stringify(args)) as Action, network);

  it.each<[string, object]>([
    ["set_scheduler_policy", { cell_id: 2, policy: "PF" }],
    ["set_scheduler_policy", { cell_id: -1, policy: "PF" }],
    ["set_scheduler_policy", { cell_id: 0, policy: "pf" }],
    ["set_prb_cap", { cell_id: 0, target: "slice", target_id: 0, max_prb: 10 }],
    ["set_prb_cap", { cell_id: 0, target: "ue", target_id: 2, max_prb: 10 }],
    ["set_prb_cap", { cell_id: 0, target: "ue", target_id: 0, max_prb: 0 }],
    ["set_prb_cap", { cell_id: 0, target: "ue", target_id: 0, max_prb: 274 }],
    ["set_mcs_bounds", { cell_id: 0, mcs_min: 0, mcs_max: 0, target_bler: 0.1 }],
    ["set_mcs_bounds", { cell_id: 0, mcs_min: 0, mcs_max: 28, target_bler: 0.1 }],
    ["set_mcs_bounds", { cell_id: 0, mcs_min: 9, mcs_max: 5, target_bler: 0.1 }],
    ["set_mcs_bounds", { cell_id: 0, mcs_min: 0, mcs_max: 9, target_bler: 0.51 }],
    ["set_qos_weights", { cell_id: 0, weights: {} }],
    ["set_qos_weights", { cell_id: 0, weights: { 9: 0 } }],
    ["set_qos_weights", { cell_id: 0, weights: { 128: 1 } }],
    ["set_qos_weights", { cell_id: 0, weights: { 9: 11 } }],
    ["set_qos_weights", { cell_id: 0, weights: { 9: 1, 1: -1 } }],
    ["set_admission_policy", { cell_id: 0, accept_threshold_pct: 0, slice_reservation: {} }],
    ["set_admission_policy", { cell_id: 0, accept_threshold_pct: 101, slice_reservation: {} }],
    ["set_handover_trigger", { cell_id: 0, a3_offset_db: 25, ttt_ms: 320 }],
    ["set_handover_trigger", { cell_id: 0, a3_offset_db: 3, ttt_ms: 41 }],
    ["set_ul_power_control", { cell_id: 0, p0_dbm: -127, alpha: 0.8 }],
    ["set_ul_power_control", { cell_id: 0, p0_dbm: -90, alpha: 0.3 }],
  ])("refuses %s(%j)", (name, args) => {
    expect(ask(name, args)).toContain(`${name}: `);
  });

  it.each<[string, object]>([
    ["noop", { anything: 1 }],
    ["set_prb_cap", { cell_id: 1, target: "ue", target_id: 1, max_prb: 273 }],
    ["set_mcs_bounds", { cell_id: 0, mcs_min: 0, mcs_max: 27, target_bler: 0 }],
    ["set_qos_weights", { cell_id: 0, weights: { 1: 10, 127: 0 } }],
    ["set_handover_trigger", { cell_id: 0, a3_offset_db: -24, ttt_ms: 5120 }],
    ["set_ul_power_control", { cell_id: 0, p0_dbm: 23, alpha: 0 }],
  ])("allows %s(%j)", (name, args) => {
    expect(ask(name, args)).toBeUndefined();
  });
});

describe("the network", () => {
  /** The mean reward of six seconds over some seeds, after the same action in both cells. */
  function earned(mix: RegimeMix, name?: string, args: object = {}): number {
    let total = 0;
    for (let seed = 0; seed < 10; seed++) {
      const simulator = new Simulator(seed, 0.9, mix);
      for (const cell_id of name ? [0, 1] : [])
        simulator.apply(readAction(name as string, JSON.stringify({ cell_id, ...args })) as Action);
      for (let second = 0; second < 6; second++) {
        const before = simulator.network;
        simulator.advance();
        total += rewardTerms(before, simulator.network, WEIGHTS, false).total / 10;
      }
    }
    return total;
  }

  it.each<[string, RegimeMix, string, object]>([
    [
      "fewer users",
      { prb_exhaustion: 1 },
      "set_admission_policy",
      { accept_threshold_pct: 80, slice_reservation: {} },
    ],
    [
      "fewer arrivals",
      { prach_storm: 1 },
      "set_admission_policy",
      { accept_threshold_pct: 30, slice_reservation: {} },
    ],
    ["less power", { interference: 1 }, "set_ul_power_control", { p0_dbm: -100, alpha: 0.8 }],
    ["weights for voice", { qos_competition: 1 }, "set_qos_weights", { weights: { 1: 4, 9: 1 } }],
  ])("gets better with %s in %j", (_, mix, name, args) => {
    expect(earned(mix, name, args)).toBeGreaterThan(earned(mix) + 0.5);
  });

  it("gets worse when a device is starved, and is the same for equal seeds", () => {
    const cap = { target: "ue", target_id: 0, max_prb: 20 };
    expect(earned({}, "set_prb_cap", cap)).toBeLessThan(earned({}) - 0.3);
    expect(new Simulator(5, 0.3, { bursty: 1 }).network).toEqual(
      new Simulator(5, 0.3, { bursty: 1 }).network,
    );
    expect(new Simulator(5, 0.3, {}).network).not.toEqual(new Simulator(6, 0.3, {}).network);
  });
});
