/** The exact binomial coefficient. */
export function binomial(n: number, k: number): bigint {
  if (k < 0 || k > n) return 0n;
  let result = 1n;
  for (let index = 1n; index <= BigInt(Math.min(k, n - k)); index++) {
    result = (result * (BigInt(n) - index + 1n)) / index;
  }
  return result;
}

/** Beyond this many bits a bigint no longer fits a double. */
const SAFE_BITS = 1000;

/** The quotient of two non-negative integers of any size, as a double. */
export function ratio(numerator: bigint, denominator: bigint): number {
  const excess = denominator.toString(16).length * 4 - SAFE_BITS;
  if (excess <= 0) return Number(numerator) / Number(denominator);
  return Number(numerator >> BigInt(excess)) / Number(denominator >> BigInt(excess));
}

const ratios = new Map<string, number>();
const MAX_RATIOS = 100_000;

/** Exact coefficients take time that grows with the square of the number of draws. */
const MAX_EXACT_DRAWS = 128;

/** C(part, k) / C(whole, k), with an error of about k units in the last place. */
function product(part: number, whole: number, k: number): number {
  let value = 1;
  for (let index = 0; index < k; index++) value *= (part - index) / (whole - index);
  return value;
}

/** C(part, k) / C(whole, k): the probability that k draws without replacement are all in the part. */
export function allInPart(part: number, whole: number, k: number): number {
  if (part < k) return 0;
  const key = `${part} ${whole} ${k}`;
  const known = ratios.get(key);
  if (known !== undefined) return known;
  const value = k <= MAX_EXACT_DRAWS ? ratio(binomial(part, k), binomial(whole, k)) : product(part, whole, k);
  // One run has few distinct triples; the bound protects long-lived processes.
  if (ratios.size >= MAX_RATIOS) ratios.clear();
  ratios.set(key, value);
  return value;
}

/** From this mean on, successes are not counted one by one. */
const COUNTED_MEAN = 10;

/** Draws from the binomial distribution: the number of successes in `trials`, each with the given probability. */
export function drawBinomial(trials: number, chance: number, random: () => number): number {
  if (trials <= 0 || chance <= 0) return 0;
  if (chance >= 1) return trials;
  if (chance > 0.5) return trials - drawBinomial(trials, 1 - chance, random);
  return trials * chance < COUNTED_MEAN
    ? drawByCounting(trials, chance, random)
    : drawByRejection(trials, chance, random);
}

/** Jumps from success to success by geometric steps: one random number per success. */
function drawByCounting(trials: number, chance: number, random: () => number): number {
  const logMiss = Math.log1p(-chance);
  let successes = 0;
  for (let trial = 0; ; successes++) {
    // 1 − random() is never 0.
    trial += Math.floor(Math.log(1 - random()) / logMiss) + 1;
    if (trial > trials) return successes;
  }
}

/**
 * Transformed rejection with squeeze (Hörmann's BTRS): a few random numbers per draw, regardless of the number of
 * trials.
 */
function drawByRejection(trials: number, chance: number, random: () => number): number {
  const odds = chance / (1 - chance);
  const deviation = Math.sqrt(trials * chance * (1 - chance));
  const b = 1.15 + 2.53 * deviation;
  const a = -0.0873 + 0.0248 * b + 0.01 * chance;
  const center = trials * chance + 0.5;
  const quick = 0.92 - 4.2 / b;
  const alpha = (2.83 + 5.1 / b) * deviation;
  const mode = Math.floor((trials + 1) * chance);
  const atMode =
    (mode + 0.5) * Math.log((mode + 1) / (odds * (trials - mode + 1))) +
    factorialTail(mode) +
    factorialTail(trials - mode);
  for (;;) {
    const u = random() - 0.5;
    const v = random();
    const distance = 0.5 - Math.abs(u);
    const found = Math.floor(((2 * a) / distance + b) * u + center);
    if (distance >= 0.07 && v <= quick) return found;
    if (found < 0 || found > trials) continue;
    const height = Math.log((v * alpha) / (a / (distance * distance) + b));
    const limit =
      atMode +
      (trials + 1) * Math.log((trials - mode + 1) / (trials - found + 1)) +
      (found + 0.5) * Math.log((odds * (trials - found + 1)) / (found + 1)) -
      factorialTail(found) -
      factorialTail(trials - found);
    if (height <= limit) return found;
  }
}

const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI);

/** The error of Stirling's formula for log(k!). */
function factorialTail(k: number): number {
  if (k < SMALL_TAILS.length) return SMALL_TAILS[k] ?? 0;
  const next = k + 1;
  const square = next * next;
  return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / next;
}

const SMALL_TAILS = Array.from({ length: 10 }, (_, k) => {
  let logFactorial = 0;
  for (let factor = 2; factor <= k; factor++) logFactorial += Math.log(factor);
  return logFactorial - ((k + 0.5) * Math.log(k + 1) - (k + 1) + HALF_LOG_TWO_PI);
});
