import { isObject, JsonTextError, loads, loadsPlain, pyRepr } from "nemo-gym/python";
import { z } from "zod";
import type { Network } from "./network.ts";

const cell_id = z.int();

/** The tools and their arguments. Values out of range are refused by the guardrail, with a reason. */
const schemas = {
  set_scheduler_policy: z.strictObject({ cell_id, policy: z.string() }),
  set_prb_cap: z.strictObject({ cell_id, target: z.string(), target_id: z.int(), max_prb: z.int() }),
  set_mcs_bounds: z.strictObject({ cell_id, mcs_min: z.int(), mcs_max: z.int(), target_bler: z.number() }),
  set_qos_weights: z.strictObject({ cell_id, weights: z.record(z.string(), z.number()) }),
  set_admission_policy: z.strictObject({
    cell_id,
    accept_threshold_pct: z.number(),
    slice_reservation: z.strictObject({}),
  }),
  set_handover_trigger: z.strictObject({ cell_id, a3_offset_db: z.number(), ttt_ms: z.int() }),
  set_ul_power_control: z.strictObject({ cell_id, p0_dbm: z.number(), alpha: z.number() }),
};
type Schemas = typeof schemas;

/** A tool call with arguments of the right types. `text` is the call in the style of Python. */
export type Action = { text: string } & (
  | { name: "noop"; args: object }
  | { [Name in keyof Schemas]: { name: Name; args: z.infer<Schemas[Name]> } }[keyof Schemas]
);

export const NOOP: Action = { name: "noop", args: {}, text: "noop({})" };

/** The action of a tool call, or what is wrong with it. */
export function readAction(name: string, given: string): Action | { problem: string } {
  const schema = Object.hasOwn(schemas, name) ? schemas[name as keyof Schemas] : undefined;
  if (!schema && name !== "noop")
    return { problem: `There is no tool '${name}'. Tools: ${Object.keys(schemas).join(", ")}, noop.` };
  let value: unknown;
  try {
    value = given === "" ? {} : loads(given);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return { problem: `The arguments of ${name} are not JSON.` };
  }
  if (!isObject(value)) return { problem: `The arguments of ${name} are not an object.` };
  if (!schema) return NOOP;
  const parsed = schema.safeParse(loadsPlain(given));
  const issue = parsed.error?.issues[0];
  if (issue) return { problem: `${name}: ${[...issue.path, issue.message].join(": ")}` };
  return { name, args: parsed.data, text: `${name}(${pyRepr(value)})` } as Action;
}

const POLICIES = ["PF", "RR", "MaxCI"];
/** Times to trigger that 3GPP TS 38.331 allows. */
const TIMES_TO_TRIGGER = [0, 40, 64, 80, 100, 128, 160, 256, 320, 480, 512, 640, 1024, 1280, 2560, 5120];
const ALPHAS = [0, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

/** Why a call would be unsafe; undefined if it may be made. */
export function refusal(action: Action, network: Network): string | undefined {
  if (action.name === "noop") return undefined;
  const { cell_id: cell } = action.args;
  const reason =
    cell < 0 || cell >= network.length
      ? `cell_id=${cell} out of range [0,${network.length})`
      : unsafeValue(action, network);
  return reason === undefined ? undefined : `${action.name}: ${reason}`;
}

function unsafeValue(action: Exclude<Action, { name: "noop" }>, network: Network): string | undefined {
  switch (action.name) {
    case "set_scheduler_policy": {
      const { policy } = action.args;
      return POLICIES.includes(policy) ? undefined : `policy='${policy}' not in ('PF', 'RR', 'MaxCI')`;
    }
    case "set_prb_cap": {
      const { cell_id: cell, target, target_id, max_prb } = action.args;
      if (target !== "ue") return `target='${target}' is not supported`;
      if (!network[cell]?.ues.some(({ id }) => id === target_id))
        return `target_id=${target_id} not in cell ${cell}`;
      return outside("max_prb", max_prb, 1, 273);
    }
    case "set_mcs_bounds": {
      const { mcs_min, mcs_max, target_bler } = action.args;
      if (mcs_min > mcs_max) return `mcs_min (${mcs_min}) > mcs_max (${mcs_max})`;
      return (
        outside("mcs_min", mcs_min, 0, 27) ??
        outside("mcs_max", mcs_max, 1, 27) ??
        outside("target_bler", target_bler, 0, 0.5)
      );
    }
    case "set_qos_weights": {
      const weights = Object.entries(action.args.weights);
      if (!weights.some(([, weight]) => weight > 0)) return "no weight is above 0";
      const wrong = weights.find(([key]) => !/^\d{1,3}$/.test(key) || Number(key) < 1 || Number(key) > 127);
      if (wrong) return `5QI '${wrong[0]}' out of range [1,127]`;
      return weights.map(([key, weight]) => outside(`weight of ${key}`, weight, 0, 10)).find(Boolean);
    }
    case "set_admission_policy": {
      const { accept_threshold_pct: threshold } = action.args;
      return threshold > 0 ? outside("accept_threshold_pct", threshold, 0, 100) : "accept_threshold_pct <= 0";
    }
    case "set_handover_trigger": {
      const { a3_offset_db, ttt_ms } = action.args;
      if (!TIMES_TO_TRIGGER.includes(ttt_ms)) return `ttt_ms=${ttt_ms} not in 38.331 set`;
      return outside("a3_offset_db", a3_offset_db, -24, 24);
    }
    case "set_ul_power_control": {
      const { p0_dbm, alpha } = action.args;
      if (!ALPHAS.includes(alpha)) return `alpha=${alpha} not in 38.331 set`;
      return outside("p0_dbm", p0_dbm, -126, 23);
    }
  }
}

function outside(name: string, value: number, low: number, high: number): string | undefined {
  return value >= low && value <= high ? undefined : `${name}=${value} out of range [${low},${high}]`;
}
