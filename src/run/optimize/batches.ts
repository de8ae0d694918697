import { stat } from "node:fs/promises";
import path from "node:path";
import { isObject } from "../../base/python/json/door.ts";
import { artifactPaths, healthReports, type Row, readRows } from "../../records/files/door.ts";
import type { EvaluationOptions, EvaluationServers } from "../options.ts";
import type { RunConfig } from "../run-config.ts";
import { runEvaluation } from "../run-evaluation.ts";
import type { RunEvent } from "../run-events.ts";
import type { CandidateLayer } from "./components.ts";
import type { Attempt } from "./feedback.ts";
import type { Task } from "./splits.ts";

/** What one batch of rollouts cost and gave; a line of the record. */
export interface BatchResult extends Row {
  /** Directory of the rollouts, relative to that of the optimization. */
  directory: string;
  /** Rewards by task. Failed rollouts have none. */
  rewards: Record<string, number[]>;
  rollouts: number;
  failed: number;
  /** The most frequent reason of failures; null without one. */
  failure: string | null;
  tokens: number;
  spent: number;
  /** Whether the budget ended before the batch did. */
  exhausted: boolean;
}

export interface BatchRunnerOptions {
  directory: string;
  config: (layer: CandidateLayer) => Promise<RunConfig>;
  /** Options of every run. */
  evaluation: EvaluationOptions;
  /** Servers that all batches share; undefined if each batch starts its own. */
  servers: EvaluationServers | undefined;
  /** Dollars spent by shared servers so far. */
  spent: () => number;
  /** Tokens that the batch may use. */
  tokensLeft: () => number;
  onEvent: (event: RunEvent) => void;
}

/** Runs candidates on tasks, and returns what their rollouts did. */
export interface Batches {
  run(name: string, batch: Batch): Promise<BatchResult>;
  attempts(directories: readonly string[], tasks: ReadonlySet<number>): Promise<Map<number, Attempt[]>>;
  directoryOf(name: string): string;
  throwIfStopped(): void;
}

export interface Batch {
  layer: CandidateLayer;
  tasks: readonly Task[];
  repeats: number;
}

/** Runs candidates on tasks. Each batch is an ordinary run with its own directory, which the viewer opens. */
export class BatchRunner implements Batches {
  readonly #options: BatchRunnerOptions;

  constructor(options: BatchRunnerOptions) {
    this.#options = options;
  }

  directoryOf(name: string): string {
    return path.join(this.#options.directory, "batches", name);
  }

  /** Throws the reason of the signals of the options. */
  throwIfStopped(): void {
    const { signal, drain } = this.#options.evaluation;
    signal?.throwIfAborted();
    drain?.throwIfAborted();
  }

  /** Runs a batch, or the rest of one that was interrupted. Rejects with the reason of the signal when it is stopped. */
  async run(name: string, batch: Batch): Promise<BatchResult> {
    const { directory, evaluation, servers, spent, tokensLeft, onEvent } = this.#options;
    const { layer, tasks, repeats } = batch;
    const output = path.join(this.directoryOf(name), "rollouts.jsonl");
    const before = spent();
    const count = tasks.length * repeats;
    // A batch that was interrupted goes on where it stopped.
    const resume = await exists(output);
    let tokens = tokensLeft() - (resume ? (await rewardsOf(output)).tokens : 0);
    if (resume && tokens < 0) {
      const { rewards, completed, tokens: used } = await rewardsOf(output);
      const lost = { failed: count - completed, failure: null };
      return {
        directory: path.relative(directory, path.dirname(output)),
        rewards,
        rollouts: count,
        ...lost,
        tokens: used,
        spent: 0,
        exhausted: true,
      };
    }
    const outOfTokens = new AbortController();
    const { drain = new AbortController().signal } = evaluation;
    const run = runEvaluation(await this.#options.config(layer), {
      ...evaluation,
      ...(servers && { servers }),
      input: tasks.map(({ index, row }) => ({ ...row, _ng_task_index: index })),
      output,
      repeats,
      resume,
      promptConfig: layer.promptConfig,
      skills: layer.skills ?? evaluation.skills,
      textOverrides: layer.textOverrides,
      drain: AbortSignal.any([drain, outOfTokens.signal]),
    });
    for await (const event of run.events) {
      onEvent(event);
      if (event.type === "outcome" && event.outcome.status === "completed")
        tokens -= tokensOf(event.outcome.row);
      if (tokens < 0) outOfTokens.abort();
    }
    const { progress, failed, cancelled } = await run.result;
    this.throwIfStopped();
    const results = await rewardsOf(output);
    const reasons = Object.entries(progress.failures_by_class).sort(([, left], [, right]) => right - left);
    const [reason] = reasons[0] ?? [];
    return {
      directory: path.relative(directory, path.dirname(output)),
      rewards: results.rewards,
      rollouts: count,
      failed: count - results.completed,
      failure:
        failed + cancelled === 0 || reason === undefined
          ? null
          : `${reason}: ${progress.failure_messages[reason] ?? ""}`,
      tokens: results.tokens,
      spent: servers ? spent() - before : (progress.spent ?? 0),
      exhausted: outOfTokens.signal.aborted || (progress.failures_by_class["budget_exhausted"] ?? 0) > 0,
    };
  }

  /** The rollouts of a task in these batches, with their health. */
  async attempts(
    directories: readonly string[],
    tasks: ReadonlySet<number>,
  ): Promise<Map<number, Attempt[]>> {
    const attempts = new Map<number, Attempt[]>();
    for (const relative of directories) {
      const output = path.join(this.#options.directory, relative, "rollouts.jsonl");
      const findings = await findingsOf(output);
      for await (const { row } of readRows(output, { onTornLine: () => {} })) {
        const task = Number(row["_ng_task_index"]);
        if (!tasks.has(task)) continue;
        const known = attempts.get(task) ?? [];
        known.push({ row, findings: findings.get(`${task}/${row["_ng_rollout_index"]}`) ?? [] });
        attempts.set(task, known);
      }
    }
    return attempts;
  }
}

async function rewardsOf(
  output: string,
): Promise<{ rewards: Record<string, number[]>; completed: number; tokens: number }> {
  const rewards: Record<string, number[]> = {};
  let completed = 0;
  let tokens = 0;
  for await (const { row } of readRows(artifactPaths(output).output, { onTornLine: () => {} })) {
    if (typeof row["reward"] !== "number" || row["mask_sample"] === true) continue;
    completed++;
    const task = String(row["_ng_task_index"]);
    rewards[task] = [...(rewards[task] ?? []), row["reward"]];
    tokens += tokensOf(row);
  }
  // Rollouts end in any order; the record must not depend on it.
  for (const list of Object.values(rewards)) list.sort((left, right) => left - right);
  return { rewards, completed, tokens };
}

function tokensOf({ response }: Row): number {
  const usage = isObject(response) ? response["usage"] : undefined;
  return isObject(usage) && typeof usage["total_tokens"] === "number" ? usage["total_tokens"] : 0;
}

async function findingsOf(output: string): Promise<Map<string, string[]>> {
  const { verdicts } = await healthReports(output);
  const found = new Map<string, string[]>();
  // A run without a health check has no report.
  if (!(await exists(verdicts))) return found;
  for await (const { row } of readRows(verdicts)) {
    const findings = Array.isArray(row["findings"]) ? row["findings"] : [];
    const checks = findings.map((finding) =>
      isObject(finding) ? String(finding["check"]) : String(finding),
    );
    found.set(`${row["_ng_task_index"]}/${row["_ng_rollout_index"]}`, checks);
  }
  return found;
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined;
}
