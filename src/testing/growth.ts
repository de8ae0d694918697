import { readFileSync } from "node:fs";

/** Shorter times are not precise enough. */
const MIN_MILLISECONDS = 10;
const RUNS = 5;
const FACTOR = 4;
const MAX_FACTOR = 1_024;

/**
 * Measures how the time of `work` grows with the size of its input: about 0 for constant, 1 for linear, 2 for quadratic time.
 * Work that is too fast to measure with an input of `maxSize` (default: 1024 times the first size) counts as constant. The best
 * of several runs counts, in CPU time of this thread on Linux, so that other load has little effect.
 *
 * @example
 * expect(await growthOf((size) => findAnswer("x".repeat(size)), 10_000)).toBeLessThan(1.6);
 */
export async function growthOf(
  work: (size: number) => unknown,
  firstSize: number,
  options: { maxSize?: number } = {},
): Promise<number> {
  const { maxSize = firstSize * MAX_FACTOR } = options;
  await work(firstSize);
  let size = firstSize;
  let small = await bestTime(work, size);
  while (small < MIN_MILLISECONDS) {
    if (size * FACTOR > maxSize) return 0;
    size *= FACTOR;
    small = await bestTime(work, size);
  }
  return Math.log((await bestTime(work, size * FACTOR)) / small) / Math.log(FACTOR);
}

async function bestTime(work: (size: number) => unknown, size: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) {
    const start = threadMilliseconds();
    await work(size);
    best = Math.min(best, threadMilliseconds() - start);
  }
  return best;
}

function threadMilliseconds(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]) / 1e6;
  } catch {
    return performance.now();
  }
}
