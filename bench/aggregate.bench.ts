import { join } from "node:path";
import { writeFileAtomically } from "../src/records/files/atomic-file.ts";
import { readRows } from "../src/records/files/jsonl-rows.ts";
import { aggregateMetrics } from "../src/records/metrics/aggregate.ts";
import type { Row } from "../src/records/metrics/rollout-row.ts";
import { RolloutTable } from "../src/records/metrics/rollout-table.ts";
import { runStatistics } from "../src/records/metrics/run-statistics.ts";
import { profileRun } from "../src/records/results/profile-files.ts";
import { aggregateEntry } from "../src/run/collect/run-totals.ts";
import type { Report } from "./report.ts";

export const name = "aggregate";

const TASKS = 20_000;
const REPEATS = 4;
const RUNS = 5;
const MAX_CPU_MS = 2_000;
const TEXT = "The quick brown fox jumps over the lazy dog and thinks about it. ".repeat(6);

/** Aggregation and profile of 80,000 rollouts, as after a run: from the rows to the metrics and files. */
export async function run(report: Report, directory: string): Promise<void> {
  const rolloutsPath = join(directory, "out.jsonl");
  const materializedInputsPath = join(directory, "out_materialized_inputs.jsonl");
  await writeFileAtomically(materializedInputsPath, lines(inputRow));
  await writeFileAtomically(rolloutsPath, lines(rolloutRow));
  const profile = await report.measureLeast("profile of 80,000 rollouts from files", RUNS, () =>
    profileRun({ materializedInputsPath, rolloutsPath }),
  );
  const entries: Row[] = [];
  for await (const { row } of readRows(rolloutsPath)) entries.push(aggregateEntry(row));
  const aggregate = await report.measureLeast("aggregate metrics of 80,000 rollouts", RUNS, () =>
    aggregateMetrics(entries),
  );
  const statistics = await report.measureLeast("intervals of 80,000 rollouts", RUNS, () => {
    const table = new RolloutTable();
    for (const row of entries) table.add(row);
    return runStatistics(table);
  });
  const total = aggregate.cpuMs + profile.cpuMs;
  report.check(
    `aggregation and profile take ${Math.round(total)} ms of CPU (at most ${MAX_CPU_MS}), intervals ${Math.round(statistics.cpuMs)}`,
    total <= MAX_CPU_MS,
  );
}

function* lines(row: (task: number, rollout: number) => Row): Generator<string> {
  for (let task = 0; task < TASKS; task++) {
    for (let rollout = 0; rollout < REPEATS; rollout++) yield `${JSON.stringify(row(task, rollout))}\n`;
  }
}

function inputRow(task: number, rollout: number): Row {
  return {
    responses_create_params: { input: [{ role: "user", content: `${task}: ${TEXT}` }] },
    expected_answer: String(task),
    agent_ref: { name: "solver" },
    _ng_task_index: task,
    _ng_rollout_index: rollout,
  };
}

function rolloutRow(task: number, rollout: number): Row {
  const correct = (task * 7 + rollout * 13) % 10 < 6;
  return {
    responses_create_params: { input: [{ role: "user", content: `${task}: ${TEXT}` }] },
    response: {
      id: `resp_${task}_${rollout}`,
      output: [
        {
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text: TEXT, annotations: [] }],
        },
      ],
      usage: {
        input_tokens: 100 + (task % 50),
        output_tokens: 200 + rollout,
        total_tokens: 300 + (task % 50) + rollout,
      },
    },
    reward: correct ? 1 : 0,
    extracted_answer: correct ? String(task) : "none",
    format_ok: rollout !== 3,
    turns: 1 + (task % 3),
    _ng_task_index: task,
    _ng_rollout_index: rollout,
    agent_ref: { name: "solver" },
  };
}
