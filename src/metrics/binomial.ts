/** n over k, exactly. */
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

/** C(part, k) / C(whole, k): the chance that k draws without replacement all fall into the part. */
export function allInPart(part: number, whole: number, k: number): number {
  if (part < k) return 0;
  const key = `${part} ${whole} ${k}`;
  const known = ratios.get(key);
  if (known !== undefined) return known;
  const value = ratio(binomial(part, k), binomial(whole, k));
  // Few different triples occur in one run; the bound only guards a process that lives for long.
  if (ratios.size >= MAX_RATIOS) ratios.clear();
  ratios.set(key, value);
  return value;
}
