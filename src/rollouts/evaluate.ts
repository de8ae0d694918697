import { dirname } from "node:path";
import type { ServerClient } from "../client/server-client.ts";
import { type ArtifactPaths, artifactPaths } from "./artifact-paths.ts";
import type { RolloutCaptures } from "./capture/captures.ts";
import { Collection, type CollectLimits, type CollectResult, type OutcomeEvent } from "./collect.ts";
import type { ExpandOptions } from "./expand.ts";
import type { Row } from "./jsonl-rows.ts";
import { type FsyncPolicy, JsonlWriter } from "./jsonl-writer.ts";
import { makeDirectory } from "./make-directory.ts";
import { prepareRun } from "./prepare-run.ts";
import type { ResumeSummary } from "./resume.ts";
import { RunLock } from "./run-lock.ts";
import { type RunSummary, summarizeRun } from "./summarize.ts";
import { turnBoundaryText } from "./turn-boundaries.ts";

/** What happens during an evaluation; the caller decides what to show. */
export type EvaluationEvent =
  | { type: "prepared"; paths: ArtifactPaths; resumed: boolean; summary: ResumeSummary }
  | { type: "started"; collection: Collection }
  | ({ type: "outcome" } & OutcomeEvent)
  | { type: "notice"; text: string }
  | { type: "collected"; result: CollectResult }
  | { type: "summarized"; summary: RunSummary };

export interface EvaluateOptions {
  client: ServerClient;
  output: string;
  expand: ExpandOptions;
  limits: CollectLimits;
  /** What decides the results: a resumed run must have the same. */
  config: Row;
  gymVersion: string;
  resume?: boolean;
  force?: boolean;
  aggregate?: boolean;
  fsync?: FsyncPolicy;
  /** What servers record about the rollouts (`openCaptures`). */
  captures?: RolloutCaptures | undefined;
  onEvent?: (event: EvaluationEvent) => void;
  /** The first stop: no new rollouts, those running may finish. */
  drain?: AbortSignal;
  /** The second stop: everything ends now. */
  stop?: AbortSignal;
}

export interface Evaluation {
  paths: ArtifactPaths;
  result: CollectResult;
  summary: RunSummary | undefined;
}

/** One evaluation from input file to metrics: expand, run, write, summarise. Safe to kill at any moment and resume. */
export async function evaluate(options: EvaluateOptions): Promise<Evaluation> {
  const emit = options.onEvent ?? (() => {});
  const paths = artifactPaths(options.output);
  const onNotice = (text: string) => emit({ type: "notice", text });
  await makeDirectory(dirname(paths.output));
  const lock = RunLock.take(paths.output);
  try {
    const { plan, resumed } = await prepareRun({
      paths,
      expand: options.expand,
      config: options.config,
      gymVersion: options.gymVersion,
      resume: options.resume ?? false,
      force: options.force ?? false,
      maxAttempts: options.limits.maxAttempts,
      onNotice,
      ...(options.stop && { signal: options.stop }),
    });
    emit({ type: "prepared", paths, resumed, summary: plan.summary });
    const result = await collect(options, paths, plan, emit);
    emit({ type: "collected", result });
    for (const text of options.captures?.summary() ?? []) onNotice(text);
    const boundaries = turnBoundaryText(result.progress.turn_boundaries);
    if (boundaries !== undefined) onNotice(boundaries);
    if (options.aggregate === false || options.stop?.aborted) return { paths, result, summary: undefined };
    const summary = await summarizeRun({
      paths,
      client: options.client,
      onNotice,
      ...(options.stop && { signal: options.stop }),
    });
    emit({ type: "summarized", summary });
    return { paths, result, summary };
  } finally {
    lock.release();
  }
}

async function collect(
  options: EvaluateOptions,
  paths: ArtifactPaths,
  plan: Awaited<ReturnType<typeof prepareRun>>["plan"],
  emit: (event: EvaluationEvent) => void,
): Promise<CollectResult> {
  const fsync = options.fsync ? { fsync: options.fsync } : {};
  const output = await JsonlWriter.open(paths.output, fsync);
  const failures = await JsonlWriter.open(paths.failures, fsync);
  const { materializedRows, remaining } = plan.summary;
  const collection = new Collection({
    client: options.client,
    rows: plan.rows(),
    total: materializedRows,
    alreadyDone: materializedRows - remaining,
    output,
    failures,
    limits: options.limits,
    onOutcome: (event) => emit({ type: "outcome", ...event }),
    ...(options.captures && { captures: options.captures }),
    ...(options.drain && { drain: options.drain }),
    ...(options.stop && { stop: options.stop }),
  });
  emit({ type: "started", collection });
  try {
    return await collection.run();
  } finally {
    await Promise.allSettled([output.close(), failures.close()]);
  }
}
