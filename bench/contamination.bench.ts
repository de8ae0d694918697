import path from "node:path";
import { addOverlaps } from "../src/cli/workloads/certify/contamination-check.ts";
import { writeOutput } from "../src/data/output-file.ts";
import { cpuMsOf, type Report } from "./report.ts";

export const name = "contamination";

const ROWS = 1_000_000;
/** One row in so many is a copy, inside a longer text. */
const EVERY = 100;
const BUDGET_CPU_S = 90;
const BUDGET_RSS_MB = 500;

/** A million rows of about 40 words against another million, as `gym env certify --against` compares them. */
export async function run(report: Report, cwd: string): Promise<void> {
  const [own, other] = [path.join(cwd, "own.jsonl"), path.join(cwd, "other.jsonl")];
  await writeRows(own, (index) => textOf(index));
  await writeRows(other, (index) =>
    index % EVERY === 0 ? `Please answer: ${textOf(index)} Think first.` : textOf(index + ROWS),
  );
  const total = { findings: [], rows: 0, compared: 0, overlapping: 0 };
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 50);
  const cpuMs = await cpuMsOf(() => addOverlaps(total, [own], [other]));
  clearInterval(watch);
  report.add({ label: `${ROWS} rows against ${ROWS}`, cpuMs, operations: 1 });
  const seconds = cpuMs / 1000;
  report.check(`${seconds.toFixed(1)} CPU s (at most ${BUDGET_CPU_S})`, seconds <= BUDGET_CPU_S);
  report.check(
    `peak RSS ${(peak / 1e6).toFixed(0)} MB (at most ${BUDGET_RSS_MB})`,
    peak / 1e6 <= BUDGET_RSS_MB,
  );
  const copies = ROWS / EVERY;
  report.check(
    `${total.overlapping} of ${copies} copies`,
    total.overlapping >= copies * 0.95 && total.overlapping <= copies * 1.01,
  );
}

async function writeRows(file: string, text: (index: number) => string): Promise<void> {
  await writeOutput(file, { atomic: false }, async (output) => {
    for (let index = 0; index < ROWS; index++)
      await output.write(`${JSON.stringify({ responses_create_params: { input: text(index) } })}\n`);
  });
}

/** Random words: each is a hash of the row and its place. */
function textOf(index: number): string {
  const words: string[] = [];
  for (let place = 20 + (index % 40); place > 0; place--) {
    let hash = Math.imul(index * 64 + place, 0x9e3779b1);
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    words.push(`w${((hash ^ (hash >>> 16)) >>> 0) % 20_000}`);
  }
  return words.join(" ");
}
