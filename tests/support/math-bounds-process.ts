/**
 * Compares hostile answers in a process of its own, whose CPU time is the time of the comparisons. Writes what takes longer than allowed, as JSON.
 *
 * @module
 */
import fc from "fast-check";
import { AnswerChecker, type Mode, verifyAnswer } from "../../src/math/index.ts";
import { hostileAnswers, hostilePair, hostileTexts } from "./hostile-answers.ts";

/** CPU time in which the event loop does nothing else. */
const LOOP_MS = 50;
/** CPU time of a whole comparison, several times what its steps take on a slow machine. */
const COMPARISON_MS = 5_000;
/** Compilation and garbage collection disturb single measurements. */
const TRIES = 4;
const RANDOM_PAIRS = 200;
const SEED = 20;

const MODES: readonly Mode[] = ["compat", "strict"];
const boxed = (text: string) => `$\\boxed{${text}}$`;

const pairs = [
  ...Object.entries(hostileAnswers).flatMap(([name, answer]) =>
    ["7", answer, `${answer}+1`].map((gold) => ({ name, gold, text: boxed(answer) })),
  ),
  ...Object.entries(hostileTexts).map(([name, text]) => ({ name, gold: "x+1", text })),
  ...fc
    .sample(hostilePair, { numRuns: RANDOM_PAIRS, seed: SEED })
    .map(({ gold, answer }) => ({ name: answer.slice(0, 200), gold, text: boxed(answer) })),
];

function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The least time of several tries, which end as soon as one is short enough. */
function leastMs(limit: number, work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < TRIES && least > limit; count++) least = Math.min(least, cpuMs(work));
  return least;
}

const tooLong: { what: string; name: string; mode: Mode; ms: number }[] = [];
const longest = { loop: 0, comparison: 0 };
for (const mode of MODES) {
  const checker = new AnswerChecker({ mode, maxThreads: 1 });
  for (const [index, { name, gold, text }] of pairs.entries()) {
    // A pair that needs a thread is given up: only the time on the event loop counts here.
    const controller = new AbortController();
    const pending: Promise<unknown>[] = [];
    const loop = leastMs(LOOP_MS, () => {
      pending.push(checker.check(gold, text, controller.signal).catch(() => undefined));
    });
    controller.abort();
    await Promise.all(pending);
    longest.loop = Math.max(longest.loop, loop);
    if (loop > LOOP_MS) tooLong.push({ what: "the event loop", name, mode, ms: loop });

    // Every third pair, because a whole comparison takes long: those with almost the same answer.
    if (index % 3 !== 2) continue;
    const comparison = leastMs(COMPARISON_MS, () => verifyAnswer(gold, text, { mode }));
    longest.comparison = Math.max(longest.comparison, comparison);
    if (comparison > COMPARISON_MS) tooLong.push({ what: "the comparison", name, mode, ms: comparison });
  }
  await checker.close();
}
console.log(JSON.stringify({ compared: pairs.length * MODES.length, longest, tooLong }));
