import { dirname } from "node:path";
import { errorMessage } from "../base/errors.ts";
import type { FileLock } from "../base/files/file-lock.ts";
import { SAMPLE_DATA_KEY } from "../data/benchmarks/prepare-context.ts";
import {
  type ArtifactPaths,
  artifactPaths,
  makeDirectory,
  refuseNonFile,
} from "../records/files/artifact-paths.ts";
import { type Row, readRows } from "../records/files/jsonl-rows.ts";
import { JsonlWriter } from "../records/files/jsonl-writer.ts";
import { lockRun } from "../records/files/run-lock.ts";
import { CoverageCounter } from "../records/metrics/coverage.ts";
import type { ServerClient } from "../servers/calls/server-client.ts";
import { Collection } from "./collect/collect.ts";
import type {
  CollectLimits,
  CollectOptions,
  CollectResult,
  OutcomeEvent,
  WorkersLink,
} from "./collect/collect-contract.ts";
import { RunTotals } from "./collect/run-totals.ts";
import { turnBoundaryText } from "./collect/turn-boundaries.ts";
import { checkRows } from "./inputs/check-rows.ts";
import type { ExpandOptions } from "./inputs/expand.ts";
import { type PreparedRun, prepareRun } from "./resume/prepare-run.ts";
import { earlierSpending, type ResumePlan, type ResumeSummary } from "./resume/resume.ts";
import type { EvaluationOptions } from "./run-evaluation.ts";
import { ResourceMeter, type RunResources, writeResources } from "./scale/resources.ts";
import { type RunSummary, summarizeRun } from "./summarize.ts";

const SAMPLE_NOTICE =
  "warning: these rows are samples included with the benchmark, not its dataset: the rewards say nothing about the benchmark. " +
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
export interface PrepareEvaluationOptions
  extends Pick<
    EvaluationOptions,
    "resume" | "force" | "retryFailed" | "aggregate" | "fsync" | "drain" | "signal"
  > {
  output: string;
  expand: ExpandOptions;
  limits: CollectLimits;
  /** Config keys that affect the results; they must be unchanged when a run is resumed. */
  config: Row;
  gymVersion: string;
  onEvent: (event: EvaluationEvent) => void;
}

/** Options to run a prepared evaluation. */
export interface RunEvaluationOptions
  extends Pick<CollectOptions, "client" | "captures" | "findAgain" | "spent"> {
  /** Workers that run the rollouts instead of this process. */
  workers?: EvaluationWorkers;
  /** Whether the servers are processes that this one did not start. */
  serversElsewhere?: boolean;
}

/** Workers of an evaluation. They receive the collection when it is created. */
export interface EvaluationWorkers extends WorkersLink {
  attach(collection: Collection): Promise<void>;
  /** Resources used for the run so far, by worker. */
  resources(): Promise<RunResources["workers"]>;
}

export interface Evaluation {
  paths: ArtifactPaths;
  result: CollectResult;
  summary: RunSummary | undefined;
}

/**
 * An evaluation with checked inputs, settings and files. Holds the lock of its output until `close`. Detects every
 * error that does not need servers, so that they are not started for an invalid run. Safe to kill at any moment and
 * resume.
 */
export class PreparedEvaluation {
  readonly options: PrepareEvaluationOptions;
  readonly paths: ArtifactPaths;
  /** Dollars spent by earlier sessions of the run. */
  readonly spentEarlier: number;
  readonly #run: PreparedRun;
  readonly #lock: FileLock;

  private constructor(
    options: PrepareEvaluationOptions,
    paths: ArtifactPaths,
    spentEarlier: number,
    run: PreparedRun,
    lock: FileLock,
  ) {
    this.options = options;
    this.paths = paths;
    this.spentEarlier = spentEarlier;
    this.#run = run;
    this.#lock = lock;
  }

  static async open(options: PrepareEvaluationOptions): Promise<PreparedEvaluation> {
    const { limits, onEvent, resume = false, force = false } = options;
    const paths = artifactPaths(options.output);
    await refuseNonFile(paths.output);
    await makeDirectory(dirname(paths.output));
    const lock = await lockRun(paths.output);
    try {
      const run = await prepareRun({
        ...options,
        paths,
        resume,
        force,
        maxAttempts: limits.maxAttempts,
        onNotice: (text) => onEvent({ type: "notice", text }),
      });
      onEvent({ type: "prepared", paths, resumed: run.resumed, summary: run.plan.summary });
      const spentEarlier = run.resumed ? await earlierSpending(paths, run.plan) : 0;
      return new PreparedEvaluation(options, paths, spentEarlier, run, lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** The rollouts of the run, and which of them earlier sessions have done. */
  get plan(): ResumePlan {
    return this.#run.plan;
  }

  /** Rejects rows that the servers cannot run or score. */
  check(client: ServerClient): Promise<void> {
    const { expand, signal } = this.options;
    return checkRows(this.plan.rows(), { client, expand, signal, onNotice: this.#notice });
  }

  /** Creates the files of the run. Files of an earlier run are unchanged until then. */
  begin(): Promise<void> {
    return this.#run.begin();
  }

  async run(options: RunEvaluationOptions): Promise<Evaluation> {
    const { paths } = this;
    const { aggregate = true, signal, onEvent } = this.options;
    await this.begin();
    await this.#noticeSamples();
    const totals = aggregate ? this.#totals() : undefined;
    const result = await this.#collect(options, totals);
    onEvent({ type: "collected", result });
    for (const text of options.captures?.summary() ?? []) this.#notice(text);
    const boundaries = turnBoundaryText(result.progress.turn_boundaries);
    if (boundaries !== undefined) this.#notice(boundaries);
    if (!aggregate || signal?.aborted) return { paths, result, summary: undefined };
    const { client } = options;
    const summary = await summarizeRun({ paths, totals, client, signal, onNotice: this.#notice });
    await this.#noticeSamples();
    onEvent({ type: "summarized", summary });
    return { paths, result, summary };
  }

  /** Releases the lock of the output. */
  async close(): Promise<void> {
    await this.#run.discard().finally(() => this.#lock.release());
  }

  readonly #notice = (text: string): void => this.options.onEvent({ type: "notice", text });

  /** Rewards on sample rows must not be mistaken for results on the full benchmark. */
  async #noticeSamples(): Promise<void> {
    for await (const { row } of readRows(this.paths.materializedInputs)) {
      if (row[SAMPLE_DATA_KEY] === true) this.#notice(SAMPLE_NOTICE);
      return;
    }
  }

  /** A resumed run has rows that this process did not count, so its files are read at the end. */
  #totals(): RunTotals | undefined {
    if (this.#run.resumed) return undefined;
    const { materializedRows } = this.plan.summary;
    return new RunTotals(new CoverageCounter(materializedRows), materializedRows);
  }

  async #collect(options: RunEvaluationOptions, totals: RunTotals | undefined): Promise<CollectResult> {
    const { paths, plan } = this;
    const { fsync, limits, drain, signal, onEvent } = this.options;
    const output = await JsonlWriter.open(paths.output, { fsync });
    const failures = await JsonlWriter.open(paths.failures, { fsync });
    const { materializedRows, done, terminal, exhausted } = plan.summary;
    let meter: ResourceMeter | undefined;
    const collection = new Collection({
      ...options,
      rows: plan.rows(),
      total: materializedRows,
      alreadyDone: done,
      earlier: plan.earlier,
      alreadyLost: { terminal, outOfAttempts: exhausted },
      output,
      failures,
      limits,
      totals,
      onOutcome: (event) => {
        meter?.ended(event.milliseconds);
        onEvent({ type: "outcome", ...event });
      },
      onNotice: this.#notice,
      drain,
      stop: signal,
    });
    await options.workers?.attach(collection);
    onEvent({ type: "started", collection, paths });
    meter = ResourceMeter.start(() => collection.inFlight);
    try {
      return await closing([output, failures], () => collection.run());
    } finally {
      if (meter) await this.#keepResources(meter, options);
    }
  }

  async #keepResources(
    meter: ResourceMeter,
    { workers, serversElsewhere }: RunEvaluationOptions,
  ): Promise<void> {
    const run = meter.figures();
    meter.close();
    const servers = workers ? "workers" : serversElsewhere ? "elsewhere" : "own";
    try {
      const used = (await workers?.resources()) ?? {};
      await writeResources(this.paths.resources, { servers, run, workers: used });
    } catch (error) {
      this.#notice(`The figures of the run could not be saved: ${errorMessage(error)}`);
    }
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
