import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { RunSummary } from "../results/summarize.ts";
import type { CollectResult } from "../rollouts/collect/collect-contract.ts";
import type { ArtifactPaths } from "../rollouts/files/artifact-paths.ts";
import type { EvaluationOptions } from "./evaluation-options.ts";
import { EvaluationSession } from "./evaluation-session.ts";
import { loadRollouts, type Rollout } from "./load-rollouts.ts";
import type { RunConfig } from "./run-config.ts";
import { type RunEvent, RunEvents } from "./run-events.ts";

/** The result of an evaluation. */
export interface EvaluationResult extends CollectResult {
  /**
   * Metrics by agent with 95 % intervals, and the number of rollouts that they cover; undefined without aggregation.
   */
  summary: RunSummary | undefined;
  /** Files of the run; undefined for a run in memory. */
  paths: ArtifactPaths | undefined;
  /** The rollouts of a run in memory; read those of a file with `loadRollouts`. */
  rollouts: Rollout[] | undefined;
}

/** The result of an evaluation with files: `paths` is set, and the files hold the rollouts. */
export type FileResult = EvaluationResult & { paths: ArtifactPaths; rollouts: undefined };
/** The result of an evaluation without files. */
export type MemoryResult = EvaluationResult & { paths: undefined; rollouts: Rollout[] };

/** A running evaluation. */
export interface EvaluationRun<Result extends EvaluationResult = EvaluationResult> {
  /** The events of the evaluation; see `RunEvents`. Reading them is optional. */
  readonly events: AsyncIterable<RunEvent>;
  readonly result: Promise<Result>;
}

/**
 * Runs every row through its agent, scores it and computes metrics. Servers are started and stopped unless they are given.
 *
 * @example
 * const run = runEvaluation({ environment, model: { url, name } }, { input: rows, repeats: 4 });
 * for await (const event of run.events) if (event.type === "outcome") console.log(event.taskIndex);
 * const { summary } = await run.result;
 */
export function runEvaluation(
  config: RunConfig,
  options: EvaluationOptions & { output: string },
): EvaluationRun<FileResult>;
export function runEvaluation(
  config: RunConfig,
  options?: EvaluationOptions & { output?: undefined },
): EvaluationRun<MemoryResult>;
export function runEvaluation(config: RunConfig, options: EvaluationOptions = {}): EvaluationRun {
  const events = new RunEvents();
  const result = evaluate(config, options, (event) => events.emit(event));
  return { events, result: events.endWith(result) };
}

async function evaluate(
  config: RunConfig,
  options: EvaluationOptions,
  emit: (event: RunEvent) => void,
): Promise<EvaluationResult> {
  // Lets a reader of the events subscribe before the first one.
  await Promise.resolve();
  if (options.output !== undefined) {
    const { result, summary, paths } = await new EvaluationSession(
      config,
      options.output,
      options,
      emit,
    ).run();
    return { ...result, summary, paths, rollouts: undefined };
  }
  const directory = await mkdtemp(path.join(tmpdir(), "nemo-gym-evaluation-"));
  try {
    const output = path.join(directory, "rollouts.jsonl");
    const { result, summary } = await new EvaluationSession(config, output, options, emit).run();
    const rollouts: Rollout[] = [];
    for await (const rollout of loadRollouts(output)) rollouts.push(rollout);
    return { ...result, summary, paths: undefined, rollouts };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
