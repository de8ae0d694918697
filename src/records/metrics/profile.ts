import { byCodePoint } from "../../base/python/door.ts";
import { groupRecord } from "./aggregate.ts";
import { mean, sampleDeviation } from "./descriptive.ts";
import { MetricsError } from "./errors.ts";
import { GrowableIntegers } from "./growable-array.ts";
import { RolloutKeyMap } from "./rollout-key-map.ts";
import { agentName, type RolloutIndices, type Row, rowIndices } from "./rollout-row.ts";
import { RolloutTable } from "./rollout-table.ts";

/** How many of the materialized inputs have rollouts. */
export interface CompletionSummary {
  expected_rollout_rows: number;
  completed_rollout_rows: number;
  missing_rollout_rows: number;
  extra_rollout_rows: number;
  reward_profile_completion_pct: number;
  /** Tasks count as input rows here. */
  total_input_rows: number;
  complete_input_rows: number;
  partial_input_rows: number;
  missing_input_rows: number;
}

export interface RewardProfile {
  /** One record per task with rollouts, ascending; computed lazily. */
  tasks: Iterable<Record<string, unknown>>;
  /** One record per agent, by name. */
  agentMetrics: Record<string, unknown>[];
  summary: CompletionSummary;
}

const MAX_KEYS_IN_MESSAGE = 10;

interface TaskState {
  expected: number;
  done: number;
}

/**
 * Builds the reward profile of a run: first every materialized input, then every rollout.
 *
 * Keeps only `Sample` of an input: the row itself, or its position.
 */
export class ProfileBuilder<Sample> {
  private readonly table = new RolloutTable();
  /** The input number of each key. */
  private readonly keys = new RolloutKeyMap();
  private readonly samples: Sample[] = [];
  /** The rows of the agent of each input. */
  private readonly agentOfInput: (GrowableIntegers | undefined)[] = [];
  private readonly done = new RolloutKeyMap();
  private readonly inputOfRow = new GrowableIntegers();
  private readonly tasks = new Map<number, TaskState>();
  private readonly agents = new Map<string, GrowableIntegers>();
  private readonly extra: string[] = [];

  /** Adds a materialized input; its rollout counts for the agent named here. */
  addInput({ taskIndex, rolloutIndex }: RolloutIndices, agent: string | undefined, sample: Sample): void {
    if (this.keys.has(taskIndex, rolloutIndex))
      throw duplicate("materialized inputs", taskIndex, rolloutIndex);
    this.keys.set(taskIndex, rolloutIndex, this.samples.length);
    this.samples.push(sample);
    this.agentOfInput.push(agent === undefined ? undefined : this.rowsOf(agent));
    const task = this.tasks.get(taskIndex);
    if (task) task.expected++;
    else this.tasks.set(taskIndex, { expected: 1, done: 0 });
  }

  /** Adds a rollout and returns the stored part of its input, if any; all inputs must have been added. */
  addRollout(row: Row): Sample | undefined {
    const { taskIndex, rolloutIndex } = rowIndices(row);
    if (this.done.has(taskIndex, rolloutIndex)) throw duplicate("rollouts", taskIndex, rolloutIndex);
    this.done.set(taskIndex, rolloutIndex, 0);
    const input = this.keys.get(taskIndex, rolloutIndex);
    const task = this.tasks.get(taskIndex);
    if (input === undefined || task === undefined) {
      this.extra.push(`${taskIndex}:${rolloutIndex}`);
      return undefined;
    }
    if (row["response"] === null || typeof row["response"] !== "object") {
      throw new MetricsError(
        "METRICS_MISSING_RESPONSE",
        `Rollout ${taskIndex}:${rolloutIndex} has no 'response'.`,
      );
    }
    const agentRows = this.agentOfInput[input];
    if (agentRows === undefined) {
      throw new MetricsError(
        "METRICS_MISSING_AGENT",
        `The materialized input of rollout ${taskIndex}:${rolloutIndex} does not name its agent ('agent_ref.name').`,
      );
    }
    task.done++;
    agentRows.push(this.table.size);
    this.inputOfRow.push(input);
    this.table.add(row);
    return this.samples[input];
  }

  /**
   * Checks that inputs and rollouts match and returns the profile; `sampleOf` converts the stored part of an input to
   * its row without the indices.
   */
  finish(options: { allowPartialRollouts: boolean; sampleOf: (kept: Sample) => Row }): RewardProfile {
    if (this.extra.length > 0) {
      throw new MetricsError(
        "METRICS_ROLLOUT_WITHOUT_INPUT",
        `${this.extra.length} rollouts have no materialized input: ${listed(this.extra)}.`,
      );
    }
    if (!options.allowPartialRollouts) this.rejectMissing();
    return {
      tasks: this.records(options.sampleOf),
      agentMetrics: this.agentMetrics(),
      summary: this.summary(),
    };
  }

  private rejectMissing(): void {
    const missing: string[] = [];
    for (const [task, rollout] of this.keys.entries()) {
      if (!this.done.has(task, rollout)) missing.push(`${task}:${rollout}`);
    }
    if (missing.length === 0) return;
    throw new MetricsError(
      "METRICS_MISSING_ROLLOUTS",
      `${missing.length} of ${this.keys.size} inputs have no rollout: ${listed(missing.sort())}. ` +
        "Allow partial rollouts (+allow_partial_rollouts=true) to profile the existing rollouts.",
    );
  }

  private *records(sampleOf: (kept: Sample) => Row): Generator<Record<string, unknown>> {
    for (const slice of this.table.tasks()) {
      const task = this.tasks.get(slice.taskIndex);
      // The first rollout found describes the task.
      const sample = this.samples[this.inputOfRow.at(slice.rows[0] ?? 0)];
      if (task === undefined || sample === undefined) continue;
      yield groupRecord(this.table, slice, { sample: sampleOf(sample), expected: task.expected });
    }
  }

  private agentMetrics(): Record<string, unknown>[] {
    return [...this.agents]
      .filter(([, rows]) => rows.length > 0)
      .sort(([left], [right]) => byCodePoint(left, right))
      .map(([name, rows]) => ({
        ...this.table.statistics(rows.values.slice(0, rows.length)),
        agent_ref: { name },
      }));
  }

  private rowsOf(agent: string): GrowableIntegers {
    const rows = this.agents.get(agent) ?? new GrowableIntegers();
    this.agents.set(agent, rows);
    return rows;
  }

  private summary(): CompletionSummary {
    let complete = 0;
    let empty = 0;
    for (const { expected, done } of this.tasks.values()) {
      if (done === expected) complete++;
      else if (done === 0) empty++;
    }
    const expected = this.keys.size;
    const completed = this.table.size;
    return {
      expected_rollout_rows: expected,
      completed_rollout_rows: completed,
      missing_rollout_rows: expected - completed,
      extra_rollout_rows: this.extra.length,
      reward_profile_completion_pct: expected === 0 ? 100 : (100 * completed) / expected,
      total_input_rows: this.tasks.size,
      complete_input_rows: complete,
      partial_input_rows: this.tasks.size - complete - empty,
      missing_input_rows: empty,
    };
  }
}

/** The profile of rows in memory. */
export function profileRollouts(
  inputs: Iterable<Row>,
  rollouts: Iterable<Row>,
  options: { allowPartialRollouts?: boolean } = {},
): RewardProfile {
  const builder = new ProfileBuilder<Row>();
  for (const input of inputs) builder.addInput(rowIndices(input), agentName(input), input);
  for (const rollout of rollouts) builder.addRollout(rollout);
  return builder.finish({
    allowPartialRollouts: options.allowPartialRollouts ?? false,
    sampleOf: ({ _ng_task_index, _ng_rollout_index, ...sample }) => sample,
  });
}

function duplicate(where: string, task: number, rollout: number): MetricsError {
  return new MetricsError(
    "METRICS_DUPLICATE_ROLLOUT",
    `The ${where} contain rollout ${rollout} of task ${task} more than once.`,
  );
}

function listed(keys: string[]): string {
  const shown = keys.slice(0, MAX_KEYS_IN_MESSAGE).join(", ");
  return keys.length > MAX_KEYS_IN_MESSAGE ? `${shown}, …` : shown;
}

/**
 * The fields that the older form of the reward profile adds to a task row: the description of its rewards (at least
 * one) and, with a threshold, how many reach it.
 */
export function taskProfile(rewards: readonly number[], passThreshold?: number): Record<string, number> {
  const profile = {
    avg_reward: mean(rewards),
    std_reward: rewards.length > 1 ? sampleDeviation(rewards) : 0,
    min_reward: rewards.reduce((least, reward) => Math.min(least, reward), Number.POSITIVE_INFINITY),
    max_reward: rewards.reduce((most, reward) => Math.max(most, reward), Number.NEGATIVE_INFINITY),
    total_samples: rewards.length,
  };
  if (passThreshold === undefined) return profile;
  const passed = rewards.filter((reward) => reward >= passThreshold).length;
  return {
    ...profile,
    pass_rate: passed / rewards.length,
    pass_rate_total: rewards.length,
    pass_rate_passed: passed,
    pass_threshold: passThreshold,
  };
}
