import { dirname } from "node:path";
import type { ServerClient } from "../calls/server-client.ts";
import { SAMPLE_DATA_KEY } from "../datasets/benchmarks/prepare-context.ts";
import { errorMessage } from "../errors.ts";
import type { FileLock } from "../files/file-lock.ts";
import { CoverageCounter } from "../metrics/coverage.ts";
import { type RunSummary, summarizeRun } from "../results/summarize.ts";
import { Collection } from "../rollouts/collect/collect.ts";
import type {
  CollectLimits,
  CollectResult,
  OutcomeEvent,
  WorkersLink,
} from "../rollouts/collect/collect-contract.ts";
import { RunTotals } from "../rollouts/collect/run-totals.ts";
import { turnBoundaryText } from "../rollouts/collect/turn-boundaries.ts";
import {
  type ArtifactPaths,
  artifactPaths,
  makeDirectory,
  refuseNonFile,
} from "../rollouts/files/artifact-paths.ts";
import { type Row, readRows } from "../rollouts/files/jsonl-rows.ts";
import { type FsyncPolicy, JsonlWriter } from "../rollouts/files/jsonl-writer.ts";
import { lockRun } from "../rollouts/files/run-lock.ts";
import { checkRows } from "../rollouts/inputs/check-rows.ts";
import type { ExpandOptions } from "../rollouts/inputs/expand.ts";
import { type PreparedRun, prepareRun } from "../rollouts/resume/prepare-run.ts";
import { earlierSpending, type ResumePlan, type ResumeSummary } from "../rollouts/resume/resume.ts";
import type { RolloutCaptures } from "../rollouts/trajectory/captures.ts";
import { ResourceMeter } from "./scale/resource-meter.ts";
import { type RunResources, writeResources } from "./scale/resources-file.ts";

const SAMPLE_NOTICE =
  "warning: these rows are samples that come with the benchmark, not its dataset: the rewards say nothing about the benchmark. " +
  "For the real rows: gym eval prepare --benchmark NAME +prepare_script_args.source=huggingface";

/** Events of an evaluation; the caller decides which to show. */
export type EvaluationEvent =
  | { type: "prepared"; paths: ArtifactPaths; resumed: boolean; summary: ResumeSummary }
  | { type: "started"; collection: Collection; paths: ArtifactPaths }
  | ({ type: "outcome" } & OutcomeEvent)
  | { type: "notice"; text: string }
  | { type: "collected"; result: CollectResult }
  | { type: "summarized"; summary: RunSummary };

/** The options of an evaluation that are known before servers start. */
export interface PrepareEvaluationOptions {
  output: string;
  expand: ExpandOptions;
  limits: CollectLimits;
  /** Config keys that affect the results; they must be unchanged when a run is resumed. */
  config: Row;
  gymVersion: string;
  resume?: boolean;
  force?: boolean;
  retryFailed?: boolean | undefined;
  onEvent?: (event: EvaluationEvent) => void;
  /** First stop: starts no new rollouts; running ones may finish. */
  drain?: AbortSignal;
  /** Second stop: cancels everything. */
  stop?: AbortSignal;
}

/** Options to run a prepared evaluation. */
export interface RunEvaluationOptions {
  client: ServerClient;
  aggregate?: boolean;
  fsync?: FsyncPolicy;
  /** Looks up the addresses of servers again, because they may have restarted elsewhere. */
  findAgain?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Recordings of the servers about the rollouts (`openCaptures`). */
  captures?: RolloutCaptures | undefined;
  /** Cost of calls so far, in dollars. */
  spent?: (() => number) | undefined;
  /** Workers that run the rollouts instead of this process. */
  workers?: EvaluationWorkers | undefined;
  /** Whether the servers are processes that this one did not start. */
  serversElsewhere?: boolean | undefined;
}

/** Workers of an evaluation. They receive the collection when it is created. */
export interface EvaluationWorkers extends WorkersLink {
  attach(collection: Collection): Promise<void>;
  /** Resources used for the run so far, by worker. */
  resources(): Promise<RunResources["workers"]>;
}

export type EvaluateOptions = PrepareEvaluationOptions & RunEvaluationOptions;

export interface Evaluation {
  paths: ArtifactPaths;
  result: CollectResult;
  summary: RunSummary | undefined;
}

/** One evaluation from input file to metrics: expand, run, write, summarise. Safe to kill at any moment and resume. */
export async function evaluate(options: EvaluateOptions): Promise<Evaluation> {
  const prepared = await PreparedEvaluation.open(options);
  try {
    return await prepared.run(options);
  } finally {
    await prepared.close();
  }
}

/**
 * An evaluation with checked inputs, settings and files. Holds the lock of its output until `close`. Detects every
 * error that does not need servers, so that they are not started for an invalid run.
 */
export class PreparedEvaluation {
  readonly paths: ArtifactPaths;
  readonly #options: PrepareEvaluationOptions;
  readonly #run: PreparedRun;
  readonly #lock: FileLock;
  /** Dollars spent by earlier sessions of the run. */
  readonly spentEarlier: number;

  private constructor(
    options: PrepareEvaluationOptions,
    paths: ArtifactPaths,
    run: PreparedRun,
    lock: FileLock,
    spentEarlier: number,
  ) {
    this.spentEarlier = spentEarlier;
    this.#options = options;
    this.paths = paths;
    this.#run = run;
    this.#lock = lock;
  }

  static async open(options: PrepareEvaluationOptions): Promise<PreparedEvaluation> {
    const paths = artifactPaths(options.output);
    await refuseNonFile(paths.output);
    await makeDirectory(dirname(paths.output));
    const lock = await lockRun(paths.output);
    try {
      const run = await prepareRun({
        paths,
        expand: options.expand,
        config: options.config,
        gymVersion: options.gymVersion,
        resume: options.resume ?? false,
        force: options.force ?? false,
        maxAttempts: options.limits.maxAttempts,
        retryFailed: options.retryFailed,
        onNotice: (text) => options.onEvent?.({ type: "notice", text }),
        ...(options.stop && { signal: options.stop }),
      });
      options.onEvent?.({ type: "prepared", paths, resumed: run.resumed, summary: run.plan.summary });
      const spentEarlier = run.resumed ? await earlierSpending(paths, run.plan) : 0;
      return new PreparedEvaluation(options, paths, run, lock, spentEarlier);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Rejects rows that the servers cannot run or score. */
  check(client: ServerClient): Promise<void> {
    const { expand, onEvent, stop } = this.#options;
    return checkRows(this.#run.plan.rows(), {
      client,
      expand,
      onNotice: (text) => onEvent?.({ type: "notice", text }),
      signal: stop,
    });
  }

  /** Creates the files of the run. Files of an earlier run are unchanged until then. */
  begin(): Promise<void> {
    return this.#run.begin();
  }

  async run(run: RunEvaluationOptions): Promise<Evaluation> {
    const { paths } = this;
    const options = { ...this.#options, ...run };
    const emit = options.onEvent ?? (() => {});
    const onNotice = (text: string) => emit({ type: "notice", text });
    await this.begin();
    await this.#tellOfSamples(onNotice);
    const totals = this.#totals(run);
    const result = await collect(options, paths, this.#run.plan, totals, emit);
    emit({ type: "collected", result });
    for (const text of options.captures?.summary() ?? []) onNotice(text);
    const boundaries = turnBoundaryText(result.progress.turn_boundaries);
    if (boundaries !== undefined) onNotice(boundaries);
    if (options.aggregate === false || options.stop?.aborted) return { paths, result, summary: undefined };
    const summary = await summarizeRun({
      paths,
      totals,
      client: options.client,
      onNotice,
      ...(options.stop && { signal: options.stop }),
    });
    await this.#tellOfSamples(onNotice);
    emit({ type: "summarized", summary });
    return { paths, result, summary };
  }

  /** Rewards on sample rows must not be mistaken for results on the full benchmark. */
  async #tellOfSamples(onNotice: (text: string) => void): Promise<void> {
    for await (const { row } of readRows(this.paths.materializedInputs)) {
      if (row[SAMPLE_DATA_KEY] === true) onNotice(SAMPLE_NOTICE);
      return;
    }
  }

  /** A resumed run has rows that this process did not count, so its files are read at the end. */
  #totals({ aggregate }: RunEvaluationOptions): RunTotals | undefined {
    const { resumed, plan } = this.#run;
    if (resumed || aggregate === false) return undefined;
    const { materializedRows } = plan.summary;
    return new RunTotals(new CoverageCounter(materializedRows), materializedRows);
  }

  /** Number of rollouts of the run. */
  get total(): number {
    return this.#run.plan.summary.materializedRows;
  }

  /** Whether an earlier session has the result of a rollout. */
  isDone(taskIndex: number, rolloutIndex: number): boolean {
    return this.#run.plan.isDone(taskIndex, rolloutIndex);
  }

  /** Releases the lock of the output. */
  async close(): Promise<void> {
    await this.#run.discard().finally(() => this.#lock.release());
  }
}

/** Closes the files at the end. A result counts only if it was written. */
export async function closing<Result>(
  files: readonly JsonlWriter[],
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    const result = await run();
    await Promise.all(files.map((file) => file.close()));
    return result;
  } finally {
    await Promise.allSettled(files.map((file) => file.close()));
  }
}

async function collect(
  options: EvaluateOptions,
  paths: ArtifactPaths,
  plan: ResumePlan,
  totals: RunTotals | undefined,
  emit: (event: EvaluationEvent) => void,
): Promise<CollectResult> {
  const fsync = options.fsync ? { fsync: options.fsync } : {};
  const output = await JsonlWriter.open(paths.output, fsync);
  const failures = await JsonlWriter.open(paths.failures, fsync);
  const { materializedRows, done, terminal, exhausted } = plan.summary;
  let meter: ResourceMeter | undefined;
  const collection = new Collection({
    client: options.client,
    rows: plan.rows(),
    total: materializedRows,
    alreadyDone: done,
    earlier: plan.earlier,
    alreadyLost: { terminal, outOfAttempts: exhausted },
    output,
    failures,
    limits: options.limits,
    totals,
    onOutcome: (event) => {
      meter?.ended(event.milliseconds);
      emit({ type: "outcome", ...event });
    },
    onNotice: (text) => emit({ type: "notice", text }),
    findAgain: options.findAgain,
    spent: options.spent,
    workers: options.workers,
    ...(options.captures && { captures: options.captures }),
    ...(options.drain && { drain: options.drain }),
    ...(options.stop && { stop: options.stop }),
  });
  await options.workers?.attach(collection);
  emit({ type: "started", collection, paths });
  meter = ResourceMeter.start(() => collection.inFlight);
  try {
    return await closing([output, failures], () => collection.run());
  } finally {
    if (meter) await keepResources(paths, meter, options);
  }
}

async function keepResources(
  paths: ArtifactPaths,
  meter: ResourceMeter,
  { workers, serversElsewhere, onEvent }: EvaluateOptions,
): Promise<void> {
  const run = meter.figures();
  meter.close();
  const servers = workers ? "workers" : serversElsewhere ? "elsewhere" : "own";
  try {
    await writeResources(paths.resources, { servers, run, workers: (await workers?.resources()) ?? {} });
  } catch (error) {
    onEvent?.({ type: "notice", text: `The figures of the run could not be kept: ${errorMessage(error)}` });
  }
}
