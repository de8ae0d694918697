/** Lanczos coefficients (g = 7, n = 9): about 15 correct digits. */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** Natural logarithm of the gamma function for x > 0. */
function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const shifted = x - 1;
  let sum = LANCZOS[0] ?? 0;
  for (let index = 1; index < LANCZOS.length; index++) sum += (LANCZOS[index] ?? 0) / (shifted + index);
  const base = shifted + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(base) - base + Math.log(sum);
}

const STIRLING_FROM = 100;

/** Natural logarithm of the beta function; where one argument is large, without the cancellation of three large logarithms. */
function logBeta(a: number, b: number): number {
  const small = Math.min(a, b);
  const large = Math.max(a, b);
  if (large < STIRLING_FROM) return logGamma(small) + logGamma(large) - logGamma(small + large);
  const both = small + large;
  const ratio = small - (large - 0.5) * Math.log1p(small / large) - small * Math.log(both);
  return logGamma(small) + ratio + stirlingCorrection(large) - stirlingCorrection(both);
}

/** The error of Stirling's formula for the logarithm of the gamma function. */
function stirlingCorrection(x: number): number {
  const square = x * x;
  return (1 / 12 - (1 / 360 - 1 / (1260 * square)) / square) / x;
}

const MAX_ITERATIONS = 10_000;
const EPSILON = 1e-16;
const TINY = 1e-300;

/**
 * The regularized incomplete beta function I_x(a, b), by its continued fraction. `complement` is 1 − x, for callers
 * that know it more precisely than the subtraction.
 */
export function incompleteBeta(x: number, a: number, b: number, complement = 1 - x): number {
  if (x <= 0) return 0;
  if (complement <= 0) return 1;
  const logX = x < 0.5 ? Math.log(x) : Math.log1p(-complement);
  const logComplement = x < 0.5 ? Math.log1p(-x) : Math.log(complement);
  const front = Math.exp(a * logX + b * logComplement - logBeta(a, b));
  // The fraction converges quickly only for x below the mean; above it, the complement is used.
  if (x < (a + 1) / (a + b + 2)) return (front * betaFraction(x, a, b)) / a;
  return 1 - (front * betaFraction(complement, b, a)) / b;
}

/** Lentz's method. */
function betaFraction(x: number, a: number, b: number): number {
  let c = 1;
  let d = reciprocal(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m <= MAX_ITERATIONS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = reciprocal(1 + even * d);
    c = away(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = reciprocal(1 + odd * d);
    c = away(1 + odd / c);
    const step = d * c;
    result *= step;
    if (Math.abs(step - 1) < EPSILON) break;
  }
  return result;
}

function away(value: number): number {
  return Math.abs(value) < TINY ? TINY : value;
}

function reciprocal(value: number): number {
  return 1 / away(value);
}

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

/** A board asks for the same quantile for every run and test. */
const quantiles = new Map<string, number>();
const MAX_QUANTILES = 10_000;

/** The value that Student's t stays below with probability `probability`. */
export function tQuantile(probability: number, degreesOfFreedom: number): number {
  if (!(probability > 0 && probability < 1) || !(degreesOfFreedom > 0)) return Number.NaN;
  if (probability === 0.5) return 0;
  if (probability < 0.5) return -tQuantile(1 - probability, degreesOfFreedom);
  const key = `${probability} ${degreesOfFreedom}`;
  const known = quantiles.get(key);
  if (known !== undefined) return known;
  const value = upperQuantile(1 - probability, Math.min(degreesOfFreedom, NORMAL_FROM));
  if (quantiles.size >= MAX_QUANTILES) quantiles.clear();
  quantiles.set(key, value);
  return value;
}

function upperQuantile(tail: number, freedom: number): number {
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
