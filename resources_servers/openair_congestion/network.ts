import { PyRandom } from "nemo-gym/python";
import type { Action } from "./actions.ts";

/** A user equipment: a phone or another device of a cell. */
export interface Ue {
  id: number;
  /** Class of its traffic: 1 is voice, 9 the default. */
  qi: number;
  offeredMbps: number;
  deliveredMbps: number;
  sinrDb: number;
  bler: number;
  mcs: number;
  bufferKb: number;
  /** Whether packets wait longer than the class allows. */
  violations: number;
}

export interface Cell {
  /** Shares of the resource blocks in use, from 0 to 1. */
  prbP50: number;
  prbP99: number;
  ulPrb: number;
  latencyMs: number;
  jain: number;
  prachCollisions: number;
  ues: Ue[];
}

export type Network = Cell[];

export type Regime = "prb_exhaustion" | "bursty" | "interference" | "prach_storm" | "qos_competition";
export type RegimeMix = Partial<Record<Regime, number>>;

const CELLS = 2;
const UES = 2;
const PRBS = 273;
const CELL_MBPS = 60;
/** What one of two equal devices offers without difficulty; twice that at difficulty 1. */
const BASE_MBPS = 21;
const MAX_BUFFER_KB = 4096;
/** Share of the queue that survives a second; the rest times out. */
const QUEUE_KEPT = 0.4;
/** Kilobytes that wait at the end of a second for each Mbps that was not delivered. */
const QUEUED_KB_PER_MBPS = 62.5;
const VOICE = 1;
const DELAY_LIMIT_MS: Record<number, number> = { [VOICE]: 100 };
const DEFAULT_DELAY_LIMIT_MS = 200;

/** What actions have set in a cell. */
interface Controls {
  policy: "PF" | "RR" | "MaxCI";
  caps: Map<number, number>;
  mcsMin: number;
  mcsMax: number;
  targetBler: number;
  qosWeights: Record<string, number>;
  admissionPct: number;
  a3OffsetDb: number;
  timeToTriggerMs: number;
  p0Dbm: number;
  alpha: number;
}

const DEFAULTS: Omit<Controls, "caps" | "qosWeights"> = {
  policy: "PF",
  mcsMin: 0,
  mcsMax: 27,
  targetBler: 0.1,
  admissionPct: 100,
  a3OffsetDb: 3,
  timeToTriggerMs: 320,
  p0Dbm: -90,
  alpha: 0.8,
};

/**
 * A small simulated network of two cells with two devices each. Equal seeds and actions give equal episodes. Each second
 * draws the same number of random values, whatever the actions are, so two actions can be compared on equal conditions.
 */
export class Simulator {
  readonly #random: PyRandom;
  readonly #difficulty: number;
  readonly #share: (regime: Regime) => number;
  readonly #controls: Controls[] = Array.from({ length: CELLS }, () => ({
    ...DEFAULTS,
    caps: new Map(),
    qosWeights: {},
  }));
  network: Network = [];

  constructor(seed: number, difficulty: number, mix: RegimeMix) {
    this.#random = new PyRandom(seed);
    this.#difficulty = difficulty;
    const total = Object.values(mix).reduce((sum, weight) => sum + weight, 0);
    this.#share = (regime) => (total > 0 ? (mix[regime] ?? 0) / total : Number(regime === "prb_exhaustion"));
    this.advance();
  }

  /** Applies an action that the guardrail accepted. */
  apply(action: Action): void {
    if (action.name === "noop") return;
    const controls = this.#controls[action.args.cell_id] as Controls;
    if (action.name === "set_scheduler_policy") controls.policy = action.args.policy as Controls["policy"];
    else if (action.name === "set_prb_cap") controls.caps.set(action.args.target_id, action.args.max_prb);
    else if (action.name === "set_mcs_bounds") {
      controls.mcsMin = action.args.mcs_min;
      controls.mcsMax = action.args.mcs_max;
      controls.targetBler = action.args.target_bler;
    } else if (action.name === "set_qos_weights") controls.qosWeights = action.args.weights;
    else if (action.name === "set_admission_policy") controls.admissionPct = action.args.accept_threshold_pct;
    else if (action.name === "set_handover_trigger") {
      controls.a3OffsetDb = action.args.a3_offset_db;
      controls.timeToTriggerMs = action.args.ttt_ms;
    } else {
      controls.p0Dbm = action.args.p0_dbm;
      controls.alpha = action.args.alpha;
    }
  }

  /** One second passes. */
  advance(): void {
    const offered = this.#handedOver(this.#controls.map((_, cell) => this.#offered(cell)));
    this.network = this.#controls.map((controls, index) => {
      const ues = (offered[index] as number[]).map((offeredMbps, id) => {
        const sinrDb = this.#sinr(index);
        const natural = sinrDb * 1.2 + 6 + 20 * (controls.targetBler - 0.1);
        const mcs = Math.round(clamp(natural, controls.mcsMin, controls.mcsMax));
        const bler = clamp(
          0.03 + controls.targetBler + 0.04 * (mcs - natural) + this.#random.uniform(-0.02, 0.02),
          0.01,
          0.95,
        );
        return { id, qi: this.#classOf(id), offeredMbps, sinrDb, mcs, bler };
      });
      return this.#serve(index, controls, ues);
    });
  }

  /** Competition means that one device talks, with a strict limit for delays, and the other one downloads. */
  #classOf(id: number): number {
    return this.#share("qos_competition") > 0 && id === 0 ? VOICE : 9;
  }

  /** What the devices of a cell want to receive. */
  #offered(cell: number): number[] {
    const drift = this.#random.uniform(0.99, 1.01);
    const burst = this.#random.random() < 0.35 ? 2 + this.#difficulty : 0.5;
    const bursty = 1 + this.#share("bursty") * (burst - 1);
    // Interference and a storm of arrivals do their harm at half of the load.
    const light = 1 - 0.5 * (this.#share("interference") + this.#share("prach_storm"));
    const load = BASE_MBPS * (1 + this.#difficulty) * drift * bursty * light;
    const admitted = this.#admitted(cell, load * UES);
    return Array.from({ length: UES }, () => load * admitted);
  }

  /** The share of the load that a cell accepts. */
  #admitted(cell: number, loadMbps: number): number {
    const { admissionPct } = this.#controls[cell] as Controls;
    return admissionPct >= 100 ? 1 : Math.min(1, (CELL_MBPS * admissionPct) / 100 / loadMbps);
  }

  /** Devices at the edge move to the cell with less load: sooner with a lower offset, and in vain if they do it too fast. */
  #handedOver(offered: number[][]): number[][] {
    const loads = offered.map((cell) => cell.reduce((sum, mbps) => sum + mbps, 0));
    const from = (loads[0] as number) >= (loads[1] as number) ? 0 : 1;
    const { a3OffsetDb, timeToTriggerMs } = this.#controls[from] as Controls;
    const eager = clamp((3 - a3OffsetDb) / 12, 0, 1) * (timeToTriggerMs < 100 ? 0.5 : 1);
    const moved = (eager * ((loads[from] as number) - (loads[1 - from] as number))) / 2;
    return offered.map((cell, index) => {
      const change = index === from ? -moved : moved;
      return cell.map((mbps) => mbps * (1 + change / (loads[index] as number)));
    });
  }

  /** A neighbour that sends with more power interferes, above all at its default power. */
  #sinr(cell: number): number {
    const neighbour = this.#controls[1 - cell] as Controls;
    const interference = this.#share("interference") * (3 + 4 * this.#difficulty);
    const power = 10 ** ((neighbour.p0Dbm - DEFAULTS.p0Dbm) / 20) * (neighbour.alpha / DEFAULTS.alpha);
    return this.#random.uniform(5.5, 12.5) - interference * Math.min(power, 2);
  }

  #serve(
    index: number,
    controls: Controls,
    wanted: Pick<Ue, "id" | "qi" | "offeredMbps" | "sinrDb" | "mcs" | "bler">[],
  ): Cell {
    const rates = wanted.map(
      ({ mcs, bler }) => (CELL_MBPS / PRBS) * (0.4 + (0.6 * mcs) / 16) * ((1 - bler) / 0.87),
    );
    const demand = wanted.map(({ id, offeredMbps }, ue) =>
      Math.min(offeredMbps / (rates[ue] as number), controls.caps.get(id) ?? PRBS),
    );
    const weights = wanted.map(({ qi, sinrDb }) => {
      if (controls.policy === "MaxCI") return 10 ** (sinrDb / 10);
      return controls.policy === "RR" ? 1 : (controls.qosWeights[String(qi)] ?? 1);
    });
    const granted = share(PRBS, demand, weights);
    const before = this.network[index]?.ues;
    const ues = wanted.map((ue, position) => {
      const deliveredMbps = (granted[position] as number) * (rates[position] as number);
      const missing = Math.max(ue.offeredMbps - deliveredMbps, 0);
      const bufferKb = Math.min(
        QUEUE_KEPT * (before?.[position]?.bufferKb ?? 0) + QUEUED_KB_PER_MBPS * missing,
        MAX_BUFFER_KB,
      );
      const delayMs = (bufferKb * 8) / Math.max(deliveredMbps, 0.01);
      const violations = Number(delayMs > (DELAY_LIMIT_MS[ue.qi] ?? DEFAULT_DELAY_LIMIT_MS));
      return { ...ue, deliveredMbps, bufferKb, violations };
    });
    const used = granted.reduce((sum, prbs) => sum + prbs, 0) / PRBS;
    const arrivals = this.#share("prach_storm") * (0.2 + 0.5 * this.#difficulty);
    return {
      prbP50: used,
      prbP99: Math.min(used + 0.14, 1),
      ulPrb: 0.4 * used,
      latencyMs: 22 + 3 * used,
      jain: jainIndex(ues.map((ue) => ue.deliveredMbps / ue.offeredMbps)),
      prachCollisions: (arrivals * controls.admissionPct) / 100,
      ues,
    };
  }
}

/** Distributes resource blocks by weight; nobody gets more than it demands. */
function share(available: number, demand: readonly number[], weights: readonly number[]): number[] {
  const granted = demand.map(() => 0);
  let open = demand.map((_, index) => index).filter((index) => (weights[index] as number) > 0);
  let left = available;
  while (open.length > 0) {
    const total = open.reduce((sum, index) => sum + (weights[index] as number), 0);
    const part = (index: number) => (left * (weights[index] as number)) / total;
    const filled = open.filter((index) => part(index) >= (demand[index] as number));
    if (filled.length === 0) {
      for (const index of open) granted[index] = part(index);
      break;
    }
    for (const index of filled) granted[index] = demand[index] as number;
    left -= filled.reduce((sum, index) => sum + (demand[index] as number), 0);
    open = open.filter((index) => !filled.includes(index));
  }
  return granted;
}

/** Jain's index of fairness: 1 if all values are equal, 1/n if one has everything. */
function jainIndex(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  const squares = values.reduce((total, value) => total + value * value, 0);
  return squares === 0 ? 1 : (sum * sum) / (values.length * squares);
}

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);
