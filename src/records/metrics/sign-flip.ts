import { exactTest } from "./compare.ts";
import { seededNumbers } from "./seeded-random.ts";

/** Up to this many differences, all assignments of signs are tried. */
const EXACT_UP_TO = 12;
const RESAMPLES = 2_000;
/** Draws end when this many were as extreme as the data: the difference is then far from significant. */
const ENOUGH_EXTREME = 50;

/**
 * Two-sided p-value that a mean difference this large arises when the sign of each difference is a coin toss. For many tests at once: the
 * draws end early, and p may be smaller than the draws can show, so that it survives a correction for many tests.
 */
export function signFlipTest(differences: ArrayLike<number>, options: { seed?: number } = {}): number {
  // A difference of zero has no sign to flip.
  const values = Float64Array.from(differences).filter((difference) => difference !== 0);
  const observed = Math.abs(values.reduce((sum, value) => sum + value, 0));
  // Sums that differ only by rounding must count as equal.
  const reached = observed - 1e-12 * Math.max(1, observed);
  if (values.length <= EXACT_UP_TO) return exactTest(values, reached).p;
  const random = seededNumbers(options.seed ?? 0);
  let extreme = 0;
  for (let draw = 1; draw <= RESAMPLES; draw++) {
    let sum = 0;
    for (const value of values) sum += random() < 0.5 ? value : -value;
    if (Math.abs(sum) >= reached) extreme++;
    // The inverse binomial p-value of Besag and Clifford.
    if (extreme === ENOUGH_EXTREME) return ENOUGH_EXTREME / draw;
  }
  const drawn = (extreme + 1) / (RESAMPLES + 1);
  return extreme > 0 ? drawn : Math.min(drawn, chernoffBound(values, reached));
}

/** An upper bound of the probability that the sum of the values with random signs is at least `reached` away from 0. */
function chernoffBound(values: Float64Array, reached: number): number {
  const slope = (t: number) => values.reduce((sum, value) => sum + value * Math.tanh(t * value), 0);
  let high = 1 / Math.max(...values.map(Math.abs));
  for (let doublings = 0; doublings < 60 && slope(high) < reached; doublings++) high *= 2;
  let low = 0;
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2;
    if (slope(middle) < reached) low = middle;
    else high = middle;
  }
  // Every t gives a bound; this one the smallest.
  const logBound = values.reduce((sum, value) => sum + logCosh(low * value), 0) - low * reached;
  return Math.min(1, 2 * Math.exp(logBound));
}

function logCosh(x: number): number {
  const size = Math.abs(x);
  return size + Math.log1p(Math.exp(-2 * size)) - Math.LN2;
}

/**
 * Holm's correction: adjusted p-values for a family of tests, valid however the tests depend on each other. The chance of any adjusted
 * p-value below α among tests without a true difference is at most α.
 */
export function holm(pValues: readonly number[]): number[] {
  const order = pValues.map((_, place) => place).sort((a, b) => (pValues[a] ?? 1) - (pValues[b] ?? 1));
  const adjusted = new Array<number>(pValues.length).fill(1);
  let largest = 0;
  for (const [rank, place] of order.entries()) {
    largest = Math.max(largest, Math.min(1, (pValues[place] ?? 1) * (pValues.length - rank)));
    adjusted[place] = largest;
  }
  return adjusted;
}
