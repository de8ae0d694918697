/** Arithmetic mean; NaN without values. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += values[index] ?? 0;
  return sum / values.length;
}

/** Sample standard deviation (divisor n − 1), in two passes; NaN below two values. */
export function sampleDeviation(values: ArrayLike<number>, average = mean(values)): number {
  if (values.length < 2) return Number.NaN;
  let squares = 0;
  for (let index = 0; index < values.length; index++) squares += ((values[index] ?? 0) - average) ** 2;
  return Math.sqrt(squares / (values.length - 1));
}

/** The median of values in ascending order. */
export function medianOfSorted(sorted: ArrayLike<number>): number {
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2;
}

/** Sorts numbers in place, ascending; short arrays without a native call. */
export function sortAscending(values: Float64Array): Float64Array {
  if (values.length > 16) return values.sort();
  for (let index = 1; index < values.length; index++) {
    const value = values[index] ?? 0;
    let slot = index;
    for (; slot > 0 && (values[slot - 1] ?? 0) > value; slot--) values[slot] = values[slot - 1] ?? 0;
    values[slot] = value;
  }
  return values;
}

/** Interpolates linearly, like numpy's default. */
export function quantileOfSorted(sorted: Float64Array, probability: number): number {
  const place = probability * (sorted.length - 1);
  const below = Math.floor(place);
  const low = sorted[below] ?? Number.NaN;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? Number.NaN;
  return low + (place - below) * (high - low);
}
