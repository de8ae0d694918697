import { incompleteBeta } from "./special-functions.ts";

/** Beyond this many degrees of freedom, the quantiles do not change in the seventh digit. */
const NORMAL_FROM = 1e8;

/** P(T > |t|) for Student's t; computed directly, so that tiny tails stay exact. */
function tTail(t: number, degreesOfFreedom: number): number {
  if (!Number.isFinite(t)) return 0;
  const squared = t * t;
  const all = degreesOfFreedom + squared;
  return incompleteBeta(degreesOfFreedom / all, degreesOfFreedom / 2, 0.5, squared / all) / 2;
}

/** P(|T| > |t|): the two-sided p-value. */
export function tTwoSided(t: number, degreesOfFreedom: number): number {
  return Math.min(1, 2 * tTail(Math.abs(t), degreesOfFreedom));
}

/** The value that Student's t stays below with probability `probability`. */
export function tQuantile(probability: number, degreesOfFreedom: number): number {
  if (!(probability > 0 && probability < 1) || !(degreesOfFreedom > 0)) return Number.NaN;
  if (probability === 0.5) return 0;
  if (probability < 0.5) return -tQuantile(1 - probability, degreesOfFreedom);
  const tail = 1 - probability;
  const freedom = Math.min(degreesOfFreedom, NORMAL_FROM);
  let low = 0;
  let high = 1;
  while (tTail(high, freedom) > tail) {
    low = high;
    high *= 2;
  }
  // The tail is monotonic, so bisection is safe; about sixty steps reach the last bit.
  for (;;) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return middle;
    if (tTail(middle, freedom) > tail) low = middle;
    else high = middle;
  }
}
