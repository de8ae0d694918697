import { readFileSync } from "node:fs";
import path from "node:path";
import { installRoot } from "../src/config/paths.ts";
import { verifyAnswer } from "../src/math/index.ts";
import type { Report } from "./report.ts";

export const name = "math";

const MEDIAN_BUDGET_MS = 1;
const SLOW_BUDGET_MS = 20;
const ROUNDS = 5;

interface Pair {
  readonly gold: string;
  readonly generated_text: string;
}

/** CPU per pair of the golden vectors: the minimum of several rounds, after one round to warm up. */
export async function run(report: Report): Promise<void> {
  const file = path.join(installRoot(), "tests/golden/fixtures/math_with_judge/parity.jsonl");
  const pairs = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Pair)
    .filter(({ generated_text }) => typeof generated_text === "string");
  const times = pairs.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, { gold, generated_text }] of pairs.entries()) {
      const before = process.cpuUsage();
      verifyAnswer(gold, generated_text);
      const { user, system } = process.cpuUsage(before);
      if (round > 0) times[index] = Math.min(times[index] as number, (user + system) / 1000);
    }
  }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number;
  const mean = times.reduce((total, time) => total + time, 0) / times.length;
  report.add({ label: `mean over ${pairs.length} pairs`, cpuMs: mean, operations: pairs.length });
  report.add({ label: "median pair", cpuMs: at(0.5), operations: pairs.length });
  report.add({ label: "99th percentile", cpuMs: at(0.99), operations: pairs.length });
  report.check(`the median pair takes at most ${MEDIAN_BUDGET_MS} ms of CPU`, at(0.5) <= MEDIAN_BUDGET_MS);
  report.check(`the 99th percentile is at most ${SLOW_BUDGET_MS} ms of CPU`, at(0.99) <= SLOW_BUDGET_MS);
}
