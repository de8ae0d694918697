import { join } from "node:path";
import { dumpsCompact } from "../src/base/python/json/json-dumps.ts";
import { artifactPaths } from "../src/records/files/artifact-paths.ts";
import { writeFileAtomically } from "../src/records/files/atomic-file.ts";
import { JsonlWriter } from "../src/records/files/jsonl-writer.ts";
import { outcomeOfReply } from "../src/run/collect/outcome.ts";
import { outputRow } from "../src/run/collect/output-row.ts";
import { materializeInputs } from "../src/run/inputs/expand.ts";
import { planResume } from "../src/run/resume/resume.ts";
import type { Report } from "./report.ts";

export const name = "rollout-files";

const ROWS = 50_000;
const IN_FLIGHT = 1_000;
const MAX_MICROSECONDS_PER_ROW = 50;
const TEXT = "The quick brown fox jumps over the lazy dog and thinks about it. ".repeat(15);

/** The cost of the files of a run: expansion before it, one line per rollout during it, the plan of a resume after it. */
export async function run(report: Report, directory: string): Promise<void> {
  const inputPath = join(directory, "in.jsonl");
  const paths = artifactPaths(join(directory, "out.jsonl"));
  await writeFileAtomically(inputPath, inputLines());
  const expand = await report.measure(`materialize ${ROWS} rows`, 1, () =>
    materializeInputs(
      { inputPath, agentName: "solver", overrides: { temperature: 1 } },
      paths.materializedInputs,
    ),
  );
  const write = await report.measure(`write ${ROWS} results`, 1, () => writeResults(paths.output));
  await report.measure(`plan the resume of ${ROWS} done rollouts`, 1, () => planResume(paths));
  const perRow = ((expand.cpuMs + write.cpuMs) * 1000) / ROWS;
  report.check(
    `expanding a row and writing its result takes ${perRow.toFixed(1)} µs of CPU (at most ${MAX_MICROSECONDS_PER_ROW})`,
    perRow <= MAX_MICROSECONDS_PER_ROW,
  );
}

function* inputLines(): Generator<string> {
  for (let row = 0; row < ROWS; row++) {
    yield `${JSON.stringify({ responses_create_params: { input: [{ role: "user", content: `${row}: ${TEXT}` }] }, answer: row })}\n`;
  }
}

/** Like a collector: many rollouts in flight, each waits for its own line. */
async function writeResults(path: string): Promise<void> {
  const writer = await JsonlWriter.open(path, { truncate: true });
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < ROWS) {
      const task = next++;
      const reply = {
        responses_create_params: { input: TEXT },
        response: { output: [{ text: TEXT }] },
        reward: 1,
      };
      const outcome = outcomeOfReply(reply, "agent");
      if (outcome.status !== "completed") throw new Error("the reply of the bench is a complete one");
      const row = outputRow(outcome.row, {
        _ng_task_index: task,
        _ng_rollout_index: 0,
        agent_ref: { name: "solver" },
      });
      await writer.append(dumpsCompact(row));
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  await writer.close();
}
