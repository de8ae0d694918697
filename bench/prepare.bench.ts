import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { writeOutput } from "../src/data/output-file.ts";
import { finishedGym } from "./gym-program.ts";
import type { Report } from "./report.ts";

export const name = "prepare";

const ROWS = 1_000_000;
const LEAST_ROWS_PER_S = 30_000;
const MOST_MB = 300;

/** A pure mapping of a million source rows by a prepare.yaml. */
const FILES = {
  "prepare.yaml": `about: {license: MIT}
source: {file: source.jsonl}
fields:
  question: = strip(question)
  options: {each: = choices, as: choice, value: {key: = choice}}
  expected_answer: = letter(answer)
  subject: "{{ subject }}"
`,
  "config.yaml": `big_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      datasets:
      - {name: big, type: benchmark, jsonl_fpath: benchmarks/big/data/rows.jsonl, prepare_script: benchmarks/big/prepare.yaml}
`,
};

export async function run(report: Report, cwd: string): Promise<void> {
  const folder = path.join(cwd, "benchmarks/big");
  await mkdir(folder, { recursive: true });
  for (const [file, text] of Object.entries(FILES)) await writeFile(path.join(folder, file), text);
  await writeOutput(path.join(folder, "source.jsonl"), { atomic: false }, async (output) => {
    for (let index = 0; index < ROWS; index++)
      await output.write(
        `{"question": " What is ${index} plus one? ", "choices": ["a", "b", "c", "d"], "answer": ${index % 4}, "subject": "sums"}\n`,
      );
  });
  const { cpuMs, peakMb } = await finishedGym(["eval", "prepare", "--benchmark", "big"], cwd);
  const rate = ROWS / (cpuMs / 1000);
  report.add({ label: `gym eval prepare, ${ROWS.toLocaleString("en")} rows`, cpuMs, operations: 1 });
  report.check(
    `${Math.round(rate).toLocaleString("en")} rows per CPU second (at least ${LEAST_ROWS_PER_S.toLocaleString("en")})`,
    rate >= LEAST_ROWS_PER_S,
  );
  report.check(`${peakMb.toFixed(0)} MB at most (bound ${MOST_MB})`, peakMb <= MOST_MB);
}
