/**
 * How often a judge is right, from rollouts that people labelled, and what its mean would be if people judged.
 * docs/reference/statistics.md has the formulas.
 *
 * @module
 */

import { tQuantile } from "./distributions.ts";

/** Two-sided 95 %. */
const Z = 1.959963984540054;

/**
 * Rollouts with one kind of verdict. The labelled ones are a random part of them, so that each label stands for as many rollouts
 * as there are for one label.
 */
export interface Stratum {
  /** Whether the judge accepts these rollouts. */
  accepts: boolean;
  /** All rollouts, labelled or not. */
  rollouts: number;
  /** Labels. */
  right: number;
  wrong: number;
}

/** A share with its 95 % interval. */
export interface Share {
  value: number;
  low: number;
  high: number;
}

/** Shares of right and wrong rollouts that the judge accepts and rejects, and how well they are known. */
export interface JudgeErrors {
  /** Share of right rollouts that the judge accepts; null if no label is `right`. */
  true_positive_rate: Share | null;
  /** Share of wrong rollouts that the judge rejects; null if no label is `wrong`. */
  true_negative_rate: Share | null;
  /** The estimates that corrections use. They are not 0 or 1 where few labels are all the same. */
  model: { tpr: number; tnr: number; tpr_variance: number; tnr_variance: number; covariance: number };
}

export interface Correction extends Share {
  /** False if the interval is [0, 1] because the verdicts hardly depend on whether the answer is right. */
  informative: boolean;
}

/** How much the repeats of a task resemble each other. */
export interface Clustering {
  tasks: number;
  /** The mean number of rollouts of a task. */
  repeats: number;
  /** The design effect of the verdicts. */
  effect: number;
}

const INDEPENDENT: Clustering = { tasks: Number.POSITIVE_INFINITY, repeats: 1, effect: 1 };

/** Estimated numbers of rollouts: first the judge (accepts, rejects), then the people (right, wrong). */
export function weightedTable(strata: readonly Stratum[]): [[number, number], [number, number]] {
  const cell = (accepts: boolean, label: "right" | "wrong") =>
    sumOf(strata, (each) =>
      each.accepts === accepts ? (each.rollouts * each[label]) / (each.right + each.wrong) : 0,
    );
  return [
    [cell(true, "right"), cell(true, "wrong")],
    [cell(false, "right"), cell(false, "wrong")],
  ];
}

/** The error rates of a judge, whose errors are independent of each other. Every stratum needs a label. */
export function judgeErrors(strata: readonly Stratum[]): JudgeErrors {
  const { parts, right } = partsOf(strata);
  const wrong = 1 - right;
  const tpr = sumOf(parts, ({ accepts, share, rate }) => (accepts ? share * rate : 0)) / right;
  const tnr = sumOf(parts, ({ accepts, share, rate }) => (accepts ? 0 : share * (1 - rate))) / wrong;
  // Influence of one right (wrong) rollout of a stratum on the rates.
  const ofRight = ({ accepts }: Part) => ((accepts ? 1 : 0) - tpr) / right;
  const ofWrong = ({ accepts }: Part) => ((accepts ? 0 : 1) - tnr) / wrong;
  const rollouts = sumOf(strata, (each) => each.rollouts);
  const drawn = (rateOf: (part: Part) => number, influence: (part: Part) => number) =>
    (1 / rollouts) * sumOf(parts, (part) => part.share * influence(part) ** 2 * rateOf(part)) +
    sumOf(parts, (part) => influence(part) ** 2 * part.unlabelledVariance);
  const tprVariance = drawn((part) => part.rate, ofRight);
  const tnrVariance = drawn((part) => 1 - part.rate, ofWrong);
  const [[bothRight, falseRight], [falseWrong, bothWrong]] = weightedTable(strata);
  // Without variance the judge never accepts, or never rejects.
  const tprSize = tprVariance > 0 ? (tpr * (1 - tpr)) / tprVariance : rollouts * right;
  const tnrSize = tnrVariance > 0 ? (tnr * (1 - tnr)) / tnrVariance : rollouts * wrong;
  return {
    true_positive_rate: rateWithInterval(bothRight, falseWrong, tprSize),
    true_negative_rate: rateWithInterval(bothWrong, falseRight, tnrSize),
    model: {
      tpr,
      tnr,
      tpr_variance: tprVariance,
      tnr_variance: tnrVariance,
      // One label moves both: a rollout of a stratum that is right is not wrong.
      covariance: sumOf(parts, (part) => -ofRight(part) * ofWrong(part) * part.unlabelledVariance),
    },
  };
}

/**
 * The share of right rollouts in the run of the labels: verdicts decide how many rollouts each label stands for (prediction-powered
 * inference, post-stratified). It needs no assumption about other runs.
 */
export function predictionPowered(strata: readonly Stratum[], clustering = INDEPENDENT): Correction {
  const rollouts = sumOf(strata, (each) => each.rollouts);
  const value = sumOf(
    strata,
    (each) => (each.rollouts / rollouts) * (each.right / (each.right + each.wrong)),
  );
  const { parts, right } = partsOf(strata);
  const { model } = judgeErrors(strata);
  const effect = effectOnLabels(clustering, parts, model.tpr + model.tnr - 1);
  const variance =
    (fewUnits(clustering.tasks) * effect * right * (1 - right)) / rollouts +
    sumOf(parts, (part) => part.unlabelledVariance);
  return { ...wilson(value, (right * (1 - right)) / variance), value, informative: true };
}

/** The mean verdict of a run: the share of accepted rollouts, its standard error, and the number of independent units. */
export interface RawMean {
  value: number;
  standard_error: number | null;
  units: number;
}

/**
 * The share of right rollouts in any run of the same judge, by its error rates (Rogan and Gladen). The interval is Fieller's: it
 * contains the shares that the raw mean does not contradict.
 */
export function roganGladen(raw: RawMean, { model }: Pick<JudgeErrors, "model">): Correction {
  const { tpr, tnr, tpr_variance, tnr_variance, covariance } = model;
  const power = tpr + tnr - 1;
  const excess = raw.value + tnr - 1;
  const value = clamp(power === 0 ? raw.value : excess / power);
  const variance = varianceOf(raw);
  const square = power ** 2 - Z ** 2 * (tpr_variance + tnr_variance + 2 * covariance);
  if (square <= 0 || power <= 0) return { value, low: 0, high: 1, informative: false };
  const linear = -excess * power + Z ** 2 * (tnr_variance + covariance);
  const constant = excess ** 2 - Z ** 2 * (variance + tnr_variance);
  const reach = Math.sqrt(Math.max(0, linear ** 2 - square * constant));
  const low = clamp((-linear - reach) / square);
  const high = clamp((-linear + reach) / square);
  return { value, low: Math.min(low, value), high: Math.max(high, value), informative: true };
}

/** The difference of the shares of right rollouts in two runs of the same judge. */
export function correctedDifference(
  raw: { value: number; standard_error: number | null; tasks: number },
  { model }: Pick<JudgeErrors, "model">,
): (Share & { informative: boolean }) | null {
  if (raw.standard_error === null) return null;
  const power = model.tpr + model.tnr - 1;
  const powerVariance = model.tpr_variance + model.tnr_variance + 2 * model.covariance;
  const square = power ** 2 - Z ** 2 * powerVariance;
  const value = Math.min(1, Math.max(-1, power === 0 ? raw.value : raw.value / power));
  if (square <= 0 || power <= 0) return { value, low: -1, high: 1, informative: false };
  const reach =
    Z * Math.sqrt(raw.value ** 2 * powerVariance + raw.standard_error ** 2 * fewUnits(raw.tasks) * square);
  const end = (sign: number) => (raw.value * power + sign * reach) / square;
  return { value, low: Math.max(-1, end(-1)), high: Math.min(1, end(1)), informative: true };
}

interface Part {
  accepts: boolean;
  /** Share of all rollouts. */
  share: number;
  /** Share of right ones. */
  rate: number;
  /** Variance of the overall share of right ones, because not all rollouts of the stratum are labelled. */
  unlabelledVariance: number;
}

/** The strata with smoothed shares: half a label more of each kind, so that few equal labels do not look certain. */
function partsOf(strata: readonly Stratum[]): { parts: Part[]; right: number } {
  const rollouts = sumOf(strata, (each) => each.rollouts);
  const parts = strata.map(({ accepts, rollouts: size, right, wrong }): Part => {
    const labels = right + wrong;
    const rate = (right + 0.5) / (labels + 1);
    const share = size / rollouts;
    const unlabelled = Math.max(0, 1 - labels / size);
    return {
      accepts,
      share,
      rate,
      unlabelledVariance: (share ** 2 * unlabelled * rate * (1 - rate)) / labels,
    };
  });
  return { parts, right: sumOf(parts, ({ share, rate }) => share * rate) };
}

/**
 * The design effect of the labels. Errors of the judge hide how much the repeats of a task resemble each other: `power` is the
 * difference that being right makes to the verdict.
 */
function effectOnLabels({ repeats, effect }: Clustering, parts: readonly Part[], power: number): number {
  const accepted = sumOf(parts, ({ accepts, share }) => (accepts ? share : 0));
  const right = sumOf(parts, ({ share, rate }) => share * rate);
  const hidden = (accepted * (1 - accepted)) / (power ** 2 * right * (1 - right));
  const most = Math.max(repeats, 1);
  const found = 1 + Math.max(0, effect - 1) * Math.max(1, hidden);
  // Verdicts that are all the same, or that do not depend on the answers, hide everything.
  return Number.isFinite(found) ? Math.min(most, found) : most;
}

function rateWithInterval(hits: number, misses: number, size: number): Share | null {
  return hits + misses === 0 ? null : wilson(hits / (hits + misses), size);
}

/** Wilson's interval of a share of `size` independent tries; `size` need not be whole. */
export function wilson(share: number, size: number): Share {
  const scale = 1 + Z ** 2 / size;
  const center = (share + Z ** 2 / (2 * size)) / scale;
  const reach = (Z / scale) * Math.sqrt((share * (1 - share)) / size + Z ** 2 / (4 * size ** 2));
  return { value: share, low: Math.max(0, center - reach), high: Math.min(1, center + reach) };
}

/** Equal verdicts have no spread; their variance is that of one other verdict among two more. */
function varianceOf({ value, standard_error, units }: RawMean): number {
  if (standard_error !== null && standard_error > 0) return standard_error ** 2 * fewUnits(units);
  const smoothed = (value * units + 1) / (units + 2);
  return (smoothed * (1 - smoothed)) / units;
}

/** The variance of few units is itself uncertain: Student's quantile instead of the normal one. */
function fewUnits(units: number): number {
  return units > 1 && Number.isFinite(units) ? (tQuantile(0.975, units - 1) / Z) ** 2 : 1;
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}

function sumOf<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((sum, value) => sum + of(value), 0);
}
