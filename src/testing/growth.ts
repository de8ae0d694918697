import { readFileSync } from "node:fs";

/** Shorter times are not precise enough. */
const MIN_MILLISECONDS = 1;
const RUNS = 8;
/** Slow work is not repeated for longer than this. */
const MAX_MILLISECONDS = 500;
/** Garbage collection and cold caches can make large inputs several times slower. A wide range reduces their share. */
const FACTOR = 16;
const MAX_FACTOR = 1_024;
const SHORT_WAIT_MS = 0.05;

const never = new Int32Array(new SharedArrayBuffer(4));

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
    if (size * 2 > maxSize) return 0;
    size *= 2;
    small = await bestTime(work, size);
  }
  const large = await bestTime(work, size * FACTOR);
  // Measured again, because the engine has optimized the code meanwhile.
  small = Math.min(small, await bestTime(work, size));
  return Math.log(large / small) / Math.log(FACTOR);
}

async function bestTime(work: (size: number) => unknown, size: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  let total = 0;
  for (let run = 0; run < RUNS && total < MAX_MILLISECONDS; run++) {
    const start = threadMilliseconds();
    await work(size);
    const time = threadMilliseconds() - start;
    best = Math.min(best, time);
    total += time;
  }
  return best;
}

/** CPU time of this thread on Linux, the time of day elsewhere. */
function threadMilliseconds(): number {
  const before = schedule();
  if (before === undefined) return performance.now();
  for (;;) {
    // Linux counts the time of a thread at clock ticks and when the thread stops running. A short wait may not stop it.
    Atomics.wait(never, 0, 0, SHORT_WAIT_MS);
    const now = schedule();
    if (now !== undefined && now.slices > before.slices) return now.milliseconds;
  }
}

/** The CPU time that the kernel has counted for this thread, and how often it has let the thread run. */
function schedule(): { milliseconds: number; slices: number } | undefined {
  try {
    const text = readFileSync("/proc/thread-self/schedstat", "utf8");
    const [nanoseconds = 0, , slices = 0] = text.split(" ").map(Number);
    return slices > 0 ? { milliseconds: nanoseconds / 1e6, slices } : undefined;
  } catch {
    return undefined;
  }
}
