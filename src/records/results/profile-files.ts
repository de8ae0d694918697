import {
  checkOptions,
  flag,
  numberOption,
  type OptionTable,
  signal,
  text,
} from "../../base/check-options.ts";
import { copyWith, dumpsCompact, loads } from "../../base/python/json/door.ts";
import { invalidRow, RolloutError } from "../errors.ts";
import { artifactPaths } from "../files/artifact-paths.ts";
import { writeFileAtomically } from "../files/atomic-file.ts";
import { type JsonlLine, parseRow, type Row, readLineBatches, readRows } from "../files/jsonl-rows.ts";
import { LineAccess } from "../files/line-access.ts";
import { LineNumbering } from "../files/line-identity.ts";
import { givenTaskIndex } from "../files/row-fields.ts";
import { agentAtEnd, materializedKey, textWithoutIndices } from "../files/row-key.ts";
import { MetricsError } from "../metrics/errors.ts";
import { type CompletionSummary, ProfileBuilder, taskProfile } from "../metrics/profile.ts";
import { agentName } from "../metrics/rollout-row.ts";
import { RolloutTable } from "../metrics/rollout-table.ts";
import { rewardsByTask } from "../metrics/run-statistics.ts";
import { rejectOtherInputs, rejectOtherPrompt } from "./same-inputs.ts";

export interface ProfiledRun {
  rewardProfilingPath: string;
  agentMetricsPath: string;
  summary: CompletionSummary;
  /** Rollouts with a reward, and how many of them pass. */
  passed: PassCount;
}

interface PassCount {
  total: number;
  passed: number;
}

export interface ProfileRunOptions {
  materializedInputsPath: string;
  rolloutsPath: string;
  /** Profiles the existing rollouts although some inputs have none. */
  allowPartialRollouts?: boolean;
  /** Reward from which a rollout passes; default 1. */
  passThreshold?: number;
  signal?: AbortSignal;
}

const optionTable: OptionTable<ProfileRunOptions> = {
  materializedInputsPath: text,
  rolloutsPath: text,
  allowPartialRollouts: flag.optional(),
  passThreshold: numberOption.optional(),
  signal: signal.optional(),
};

/** Writes `<stem>_reward_profiling.jsonl` and `<stem>_agent_metrics.json` next to the rollouts file. */
export async function profileRun(options: ProfileRunOptions): Promise<ProfiledRun> {
  checkOptions("profile", optionTable, options);
  const read = { signal: options.signal };
  // Only the position of an input in the file is kept.
  const builder = new ProfileBuilder<number>();
  const { materializedInputsPath } = options;
  for await (const batch of readLineBatches(materializedInputsPath, read)) {
    for (const line of batch) {
      const key = materializedKey(materializedInputsPath, line);
      const agent = agentAtEnd(line.text) ?? agentName(parseRow(materializedInputsPath, line));
      located(materializedInputsPath, line, () => builder.addInput(key, agent, line.offset));
    }
  }
  const { rolloutsPath, passThreshold = 1 } = options;
  const files = { inputsPath: materializedInputsPath, rolloutsPath };
  const isKnown = await rejectOtherInputs(files, read);
  const inputs = new LineAccess(materializedInputsPath);
  const passes = new Map<unknown, PassCount>();
  // In batches: one step of an async generator per row would cost as much as the statistics.
  try {
    for await (const batch of readLineBatches(rolloutsPath, read)) {
      for (const line of batch) {
        const row = parseRow(rolloutsPath, line);
        const offset = located(rolloutsPath, line, () => builder.addRollout(row));
        // One rollout of a task is enough.
        if (!isKnown && offset !== undefined && !passes.has(row["_ng_task_index"]))
          rejectOtherPrompt(files, JSON.parse(inputs.lineAt(offset)) as Row, row);
        countPass(passes, row, passThreshold);
      }
    }
    const paths = artifactPaths(rolloutsPath);
    const profile = builder.finish({
      allowPartialRollouts: options.allowPartialRollouts ?? false,
      sampleOf: (offset) => withoutIndices(inputs.lineAt(offset)),
    });
    await writeFileAtomically(
      paths.rewardProfiling,
      jsonLines(withPassRates(profile.tasks, passes, passThreshold)),
    );
    await writeFileAtomically(paths.agentMetrics, [dumpsCompact(profile.agentMetrics)]);
    return {
      rewardProfilingPath: paths.rewardProfiling,
      agentMetricsPath: paths.agentMetrics,
      summary: profile.summary,
      passed: sumOf(passes.values()),
    };
  } finally {
    inputs.close();
  }
}

function countPass(passes: Map<unknown, PassCount>, row: Row, threshold: number): void {
  const reward = Number(row["reward"]);
  if (row["reward"] === null || !Number.isFinite(reward)) return;
  const task = row["_ng_task_index"];
  const count = passes.get(task) ?? { total: 0, passed: 0 };
  count.total++;
  if (reward >= threshold) count.passed++;
  passes.set(task, count);
}

function* withPassRates(
  tasks: Iterable<Record<string, unknown>>,
  passes: ReadonlyMap<unknown, PassCount>,
  threshold: number,
): Generator<Record<string, unknown>> {
  for (const task of tasks) {
    const count = passes.get(task["_ng_task_index"]);
    if (count === undefined) yield task;
    else
      yield copyWith(task, {
        pass_rate: count.passed / count.total,
        pass_rate_total: count.total,
        pass_rate_passed: count.passed,
        pass_threshold: threshold,
      });
  }
}

function sumOf(counts: Iterable<PassCount>): PassCount {
  const sum = { total: 0, passed: 0 };
  for (const { total, passed } of counts) {
    sum.total += total;
    sum.passed += passed;
  }
  return sum;
}

function withoutIndices(text: string): Row {
  const shortened = textWithoutIndices(text);
  if (shortened !== undefined) return loads(shortened) as Row;
  const { _ng_task_index, _ng_rollout_index, ...sample } = loads(text) as Row;
  return sample;
}

export interface ProfiledTasks {
  /** Task rows written. */
  tasks: number;
  rollouts: number;
  /** Tasks of the input without rollouts; they are skipped. */
  tasksWithoutRollouts: number;
  /** Rollouts whose reward is not a number; they are skipped. */
  rolloutsWithoutReward: number;
}

/**
 * The older form: the task rows of the input, each with the description of its rewards, ascending by task index. Tasks are numbered as at
 * expansion: a given `_ng_task_index`, else equal lines share a number.
 */
export async function profileTasks(options: {
  inputPath: string;
  rolloutsPath: string;
  outputPath: string;
  passThreshold?: number;
  signal?: AbortSignal;
}): Promise<ProfiledTasks> {
  const read = { signal: options.signal };
  const table = new RolloutTable();
  for await (const { row, line } of readRows(options.rolloutsPath, read)) {
    located(options.rolloutsPath, line, () => table.add(row));
  }
  const rewards = rewardsByTask(table);
  const offsets = await taskOffsets(options.inputPath, read);
  rejectForeign(rewards.keys(), offsets, options);
  const tasks = [...offsets.keys()].filter((task) => rewards.has(task)).sort((left, right) => left - right);
  const inputs = new LineAccess(options.inputPath);
  const profiled = function* (): Generator<Row> {
    for (const task of tasks) {
      const row = loads(inputs.lineAt(offsets.get(task) ?? 0)) as Row;
      yield copyWith(row, taskProfile(rewards.get(task) ?? [], options.passThreshold));
    }
  };
  try {
    await writeFileAtomically(options.outputPath, jsonLines(profiled()));
  } finally {
    inputs.close();
  }
  const counted = [...rewards.values()].reduce((sum, values) => sum + values.length, 0);
  return {
    tasks: tasks.length,
    rollouts: counted,
    tasksWithoutRollouts: offsets.size - tasks.length,
    rolloutsWithoutReward: table.size - counted,
  };
}

/** Offset of the first line of each task. */
async function taskOffsets(path: string, read: { signal?: AbortSignal }): Promise<Map<number, number>> {
  const numbering = new LineNumbering();
  const offsets = new Map<number, number>();
  for await (const { row, line } of readRows(path, read)) {
    const task = givenTaskIndex(row, path, line) ?? numbering.numberOf(line);
    if (!offsets.has(task)) offsets.set(task, line.offset);
  }
  return offsets;
}

function rejectForeign(
  tasks: Iterable<number>,
  offsets: Map<number, number>,
  options: { inputPath: string; rolloutsPath: string },
): void {
  const foreign = [...tasks].filter((task) => !offsets.has(task));
  if (foreign.length === 0) return;
  throw new RolloutError(
    "ROLLOUT_FOREIGN_OUTPUT",
    `'${options.rolloutsPath}' contains rollouts of ${foreign.length} tasks that '${options.inputPath}' does not have (such as task ${foreign[0]}).`,
  );
}

function* jsonLines(rows: Iterable<unknown>): Generator<string> {
  for (const row of rows) yield `${dumpsCompact(row)}\n`;
}

/** Adds file and line to an error about one row. */
function located<Result>(path: string, line: JsonlLine, action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof MetricsError)) throw error;
    throw invalidRow(path, line, error.message, error);
  }
}
