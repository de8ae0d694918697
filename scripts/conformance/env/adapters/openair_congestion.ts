/**
 * Golden episodes of openair_congestion. The simulated network is our own, so values that follow from the dynamics differ.
 * Compared are the contract of `/reset`, the protocol and the guardrail of `/step`, the layout of the observation, and the
 * reward function on the networks that the recorded observations describe.
 *
 * @module
 */
import type { Cell, Network } from "../../../../resources_servers/openair_congestion/network.ts";
import { describe } from "../../../../resources_servers/openair_congestion/observation.ts";
import { rewardTerms, WEIGHTS } from "../../../../resources_servers/openair_congestion/reward.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { type Environment, startRowServer } from "../environment-server.ts";
import { type FixtureRow, isObject, type JsonObject, rowsOf } from "../rows.ts";

const CELL =
  /^- Cell \d+: DL PRB util p50=(\d+)%, p99=(\d+)%; UL PRB util p50=(\d+)%; sched latency p99 (\d+)ms; Jain fairness ([\d.]+); PRACH collision rate (\d+)%; \d+ UEs/;
const UE =
  /^ {4}UE (\d+) \(5QI (\d+)\): offered ([\d.]+) Mbps, delivered ([\d.]+) Mbps, SINR (-?[\d.]+) dB, BLER (\d+)%, mean MCS (\d+), buffer (\d+) kB, PDB violations (\d+)/;
const LAST = /^Last action: (.*); last reward: (-?[\d.e-]+)(?:, REJECTED \((.*)\))?\.$/;

const numbers = (match: RegExpExecArray): number[] => match.slice(1).map(Number);

function networkOf(observation: string): Network {
  const cells: Cell[] = [];
  for (const line of observation.split("\n")) {
    const cell = CELL.exec(line);
    const ue = UE.exec(line);
    if (cell) {
      const [p50 = 0, p99 = 0, ul = 0, latencyMs = 0, jain = 0, prach = 0] = numbers(cell);
      const shares = { prbP50: p50 / 100, prbP99: p99 / 100, ulPrb: ul / 100, prachCollisions: prach / 100 };
      cells.push({ ...shares, latencyMs, jain, ues: [] });
    } else if (ue) {
      const [
        id = 0,
        qi = 0,
        offered = 0,
        delivered = 0,
        sinrDb = 0,
        bler = 0,
        mcs = 0,
        bufferKb = 0,
        violations = 0,
      ] = numbers(ue);
      const traffic = { offeredMbps: offered, deliveredMbps: delivered, bufferKb, violations };
      cells.at(-1)?.ues.push({ ...{ id, qi, sinrDb, mcs }, bler: bler / 100, ...traffic });
    }
  }
  return cells;
}

/** The recorded observation, written again from what it says. */
function layoutDifference(text: string, step: number): string | undefined {
  const last = text
    .split("\n")
    .map((line) => LAST.exec(line))
    .find(Boolean);
  const told = last ? { text: last[1] ?? "", reward: Number(last[2]), refusal: last[3] } : undefined;
  return difference(describe(networkOf(text), step, told), text, "observation");
}

/** What the rounding of two observations may add to a term. */
const TOLERANCES: Record<string, number> = {
  delta_tput: (2 * 0.05 * 8) / 120 + 1e-9,
  delta_fair: 5 * 0.01 + 1e-9,
  level_prb: (0.4 * 0.005) / 0.15 + 1e-9,
  level_fair: (0.35 * 0.005) / 0.8 + 1e-9,
  level_buffer: (0.15 * 0.5) / 1024 + 1e-9,
  level_access: (0.3 * 0.005) / 0.45 + 1e-9,
};

function rewardDifference(before: string, after: string, info: JsonObject): string | undefined {
  if (!isObject(info["reward_terms"])) return "no reward_terms";
  const refused = info["guardrail_accepted"] === false && info["error"] === undefined;
  const terms: JsonObject = rewardTerms(networkOf(before), networkOf(after), WEIGHTS, refused);
  for (const [name, expected] of Object.entries(info["reward_terms"])) {
    if (name === "total" || name === "protocol_violation") continue;
    const error = Math.abs(Number(terms[name]) - Number(expected));
    if (!(error <= (TOLERANCES[name] ?? 1e-12))) return `${name}: expected ${expected}, got ${terms[name]}`;
  }
  return undefined;
}

/** What does not depend on the dynamics. */
function protocolOf(body: unknown): JsonObject {
  if (!isObject(body)) return {};
  const { observation, reward: _reward, info, ...flags } = body;
  if (!isObject(info)) return { ...flags, observed: observation !== undefined && observation !== null };
  const {
    cumulative_reward: _total,
    dynamics_mode: _mode,
    reward_terms: terms,
    episode_id: _id,
    ...rest
  } = info;
  const { tool_outputs: outputs } = rest;
  const violation = isObject(terms)
    ? { names: Object.keys(terms).sort(), penalty: terms["protocol_violation"] }
    : {};
  const calls = rowsOf(outputs).map(({ output }) => (rest["error"] === undefined ? output : "<text>"));
  const tool_outputs = outputs === undefined ? undefined : calls;
  return { ...flags, info: { ...rest, tool_outputs }, violation, observed: typeof observation === "string" };
}

/** The total and the reward are the sum of the terms. */
function sumDifference(body: JsonObject): string | undefined {
  const terms = isObject(body["info"]) ? body["info"]["reward_terms"] : undefined;
  if (!isObject(terms)) return undefined;
  const { total, ...others } = terms;
  const sum = Object.values(others).reduce((all: number, term) => all + Number(term), 0);
  return difference([body["reward"], total], [sum, sum], "sum", { relative: 1e-9 });
}

async function runEpisode(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const run = await startRowServer(environment, row);
  const start = row["reset"] as JsonObject;
  try {
    const jar = run.server.newJar();
    const reply = await run.server.post("/reset", start, jar);
    const reset = row.expected["reset"] as JsonObject;
    if (reset["status"] === 500) return reply.status >= 400 ? undefined : "expected a refusal";
    const opened = difference(protocolOf(reply.body), protocolOf(reset["body"]), "reset");
    if (opened !== undefined) return opened;
    let before = String((reset["body"] as JsonObject)["observation"]);
    const layout = layoutDifference(before, 0);
    if (layout !== undefined) return layout;
    for (const [index, { body: expected }] of rowsOf(row.expected["results"]).entries()) {
      const response = (row["steps"] as unknown[])[index];
      const { body } = await run.server.post("/step", { ...start, response }, jar);
      const found =
        difference(protocolOf(body), protocolOf(expected), `step ${index}`) ??
        sumDifference(body as JsonObject);
      if (found !== undefined) return found;
      const { observation: after, info } = expected as JsonObject;
      if (typeof after !== "string") continue;
      const wrong = layoutDifference(after, index + 1) ?? rewardDifference(before, after, info as JsonObject);
      if (wrong !== undefined) return `step ${index}: ${wrong}`;
      before = after;
    }
    return undefined;
  } finally {
    await run.close();
  }
}

export const adapter: Adapter = { caseOf: (row, environment) => () => runEpisode(row, environment) };
