import { dirname } from "node:path";
import { errorMessage } from "../base/errors.ts";
import type { FileLock } from "../base/files/door.ts";
import { SAMPLE_DATA_KEY, SAMPLE_OF_KEY } from "../data/light-door.ts";
import {
  type ArtifactPaths,
  artifactPaths,
  JsonlWriter,
  lockRun,
  makeOutputDirectory,
  type Row,
  readRows,
} from "../records/files/door.ts";
import { CoverageCounter } from "../records/metrics/door.ts";
import type { ServerClient } from "../servers/calls/door.ts";
import { type Cohort, type CohortSettings, incompleteTasks, namedTasks, rejectSettings } from "./cohorts.ts";
import { Collection } from "./collect/collect.ts";
import type {
  CollectLimits,
  CollectOptions,
  CollectResult,
  OutcomeEvent,
} from "./collect/collect-contract.ts";
import { RunTotals } from "./collect/run-totals.ts";
import { turnBoundaryText } from "./collect/turn-boundaries.ts";
import type { ZeroSetting } from "./count-as-zero.ts";
import { checkRows } from "./inputs/check-rows.ts";
import type { ExpandOptions } from "./inputs/expand.ts";
import type { EvaluationOptions } from "./options.ts";
import { type PreparedRun, prepareRun } from "./resume/prepare-run.ts";
import { earlierSpending, type ResumePlan, type ResumeSummary, withoutTasks } from "./resume/resume.ts";
import { ResourceMeter, type RunResources, writeResources } from "./scale/resources.ts";
import { type RunSummary, summarizeRun } from "./summarize.ts";
import type { RolloutCaptures } from "./trajectory/captures.ts";

function sampleNotice(count: number, of: string | undefined): string {
  return (
    `warning: ${count} example row${count === 1 ? "" : "s"}, not ${of ?? "the benchmark"}: the rewards say nothing about the benchmark. ` +
    `For the real rows: gym eval prepare --benchmark ${of ?? "NAME"} --source original`
  );
}

/** Events of an evaluation; the caller decides which to show. */
export type EvaluationEvent =
  | { type: "prepared"; paths: ArtifactPaths; resumed: boolean; summary: ResumeSummary }
  | { type: "started"; collection: Collection; paths: ArtifactPaths }
  | ({ type: "outcome" } & OutcomeEvent)
  | { type: "notice"; text: string }
  | { type: "collected"; result: CollectResult }
  | { type: "summarized"; summary: RunSummary };

/** The checked description of a run: its rows, its limits, and what to do with an earlier run of the same name. */
export interface RunPlan
  extends Pick<
    EvaluationOptions,
    | "resume"
    | "force"
    | "retryFailed"
    | "retryTerminalTimeouts"
    | "retryInvalidJudge"
    | "longestFirst"
    | "aggregate"
    | "fsync"
    | "images"
  > {
  output: string;
  /** Rollouts without a result that count as zero in the metrics. */
  zeros?: ZeroSetting;
  expand: ExpandOptions;
  limits: CollectLimits;
  /** Config keys that affect the results; they must be unchanged when a run is resumed. */
  config: Row;
  gymVersion: string;
}

/** Who watches a run, and who may stop it. */
export interface RunObserver extends Pick<EvaluationOptions, "drain" | "signal"> {
  onEvent: (event: EvaluationEvent) => void;
}

/** Where the rollouts of a run execute. */
export interface Execution extends Pick<CollectOptions, "executor" | "spent"> {
  /** Reaches the servers that compute metrics. */
  client: ServerClient;
  /** Who started the servers. */
  servers: RunResources["servers"];
  /** Called with the collection before its first rollout. */
  attach?: (collection: Collection) => Promise<void>;
  /** Resources used for the run so far, by worker. */
  resources?: () => Promise<RunResources["workers"]>;
  /** What to say about the recorded model calls when the rollouts are collected. */
  captures?: Pick<RolloutCaptures, "summary">;
}

export interface Evaluation {
  paths: ArtifactPaths;
  result: CollectResult;
  summary: RunSummary | undefined;
}

/**
 * One run, from its inputs to its metrics. Holds the lock of its output until `close`. Opening it detects every error
 * that does not need servers, so that they are not started for an invalid run. Safe to kill at any moment and resume.
 */
export class Run {
  readonly plan: RunPlan;
  readonly paths: ArtifactPaths;
  /** Dollars spent by earlier sessions of the run. */
  readonly spentEarlier: number;
  readonly #observer: RunObserver;
  readonly #prepared: PreparedRun;
  #rollouts: ResumePlan;
  readonly #lock: FileLock;

  private constructor(
    plan: RunPlan,
    observer: RunObserver,
    opened: { paths: ArtifactPaths; spentEarlier: number; prepared: PreparedRun; lock: FileLock },
  ) {
    this.plan = plan;
    this.paths = opened.paths;
    this.spentEarlier = opened.spentEarlier;
    this.#observer = observer;
    this.#prepared = opened.prepared;
    this.#rollouts = opened.prepared.rollouts;
    this.#lock = opened.lock;
  }

  static async open(plan: RunPlan, observer: RunObserver): Promise<Run> {
    const { onEvent, signal } = observer;
    const paths = artifactPaths(plan.output);
    await makeOutputDirectory(dirname(paths.output));
    const lock = await lockRun(paths.output);
    try {
      const onNotice = (text: string) => onEvent({ type: "notice", text });
      const prepared = await prepareRun({ ...plan, paths, signal, onNotice });
      const { resumed, rollouts } = prepared;
      onEvent({ type: "prepared", paths, resumed, summary: rollouts.summary });
      const spentEarlier = resumed ? await earlierSpending(paths, rollouts) : 0;
      return new Run(plan, observer, { paths, spentEarlier, prepared, lock });
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** The rollouts of the run, and which of them earlier sessions have done. */
  get rollouts(): ResumePlan {
    return this.#rollouts;
  }

  /** Rejects settings that keep rollouts which are scored together from meeting. */
  async checkCohorts(cohorts: ReadonlyMap<string, Cohort>, settings: CohortSettings): Promise<void> {
    if (cohorts.size === 0) return;
    rejectSettings(cohorts, settings);
    const { resumed } = this.#prepared;
    const { tasks, rollouts } = await incompleteTasks(cohorts, this.rollouts, { resumed });
    if (tasks.size === 0) return;
    this.#rollouts = withoutTasks(this.rollouts, tasks, rollouts);
    this.notice(
      `${rollouts} rollouts are left out: an earlier session scored only some rollouts of their tasks (${namedTasks(tasks)}), and those of a task are scored together.`,
    );
  }

  readonly notice = (text: string): void => this.#observer.onEvent({ type: "notice", text });

  /** Rejects rows that the servers cannot run or score. */
  check(client: ServerClient): Promise<void> {
    const { expand } = this.plan;
    const { signal } = this.#observer;
    return checkRows(this.rollouts.rows(), { client, expand, signal, onNotice: this.notice });
  }

  /** Creates the files of the run. Files of an earlier run are unchanged until then. */
  begin(): Promise<void> {
    return this.#prepared.begin();
  }

  /** Collects the rollouts, writes every file of the run and computes its metrics. */
  async execute(execution: Execution): Promise<Evaluation> {
    const { paths } = this;
    const { aggregate = true } = this.plan;
    const { signal, onEvent } = this.#observer;
    await this.begin();
    await this.#noticeSamples();
    const totals = aggregate ? this.#totals() : undefined;
    const result = await this.#collect(execution, totals);
    onEvent({ type: "collected", result });
    for (const text of execution.captures?.summary() ?? []) this.notice(text);
    const boundaries = turnBoundaryText(result.progress.turn_boundaries);
    if (boundaries !== undefined) this.notice(boundaries);
    if (!aggregate || signal?.aborted) return { paths, result, summary: undefined };
    const { client } = execution;
    const { zeros } = this.plan;
    const summary = await summarizeRun({ paths, totals, zeros, client, signal, onNotice: this.notice });
    await this.#noticeSamples();
    onEvent({ type: "summarized", summary });
    return { paths, result, summary };
  }

  /** Releases the lock of the output. */
  async close(): Promise<void> {
    await this.#prepared.discard().finally(() => this.#lock.release());
  }

  /** Rewards on sample rows must not be mistaken for results on the full benchmark. */
  async #noticeSamples(): Promise<void> {
    const counts = new Map<string | undefined, number>();
    for await (const { row } of readRows(this.paths.materializedInputs)) {
      // Real rows are many, and never mixed with samples of the same benchmark.
      if (row[SAMPLE_DATA_KEY] !== true) break;
      const of = typeof row[SAMPLE_OF_KEY] === "string" ? row[SAMPLE_OF_KEY] : undefined;
      if (row["_ng_rollout_index"] === 0) counts.set(of, (counts.get(of) ?? 0) + 1);
    }
    for (const [of, count] of counts) this.notice(sampleNotice(count, of));
  }

  /** A resumed run has rows that this process did not count, so its files are read at the end. */
  #totals(): RunTotals | undefined {
    if (this.#prepared.resumed) return undefined;
    const { materializedRows } = this.rollouts.summary;
    return new RunTotals(new CoverageCounter(materializedRows), materializedRows);
  }

  async #collect(execution: Execution, totals: RunTotals | undefined): Promise<CollectResult> {
    const { paths, rollouts } = this;
    const { fsync, images, limits } = this.plan;
    const { drain, signal, onEvent } = this.#observer;
    const { executor, spent } = execution;
    const output = await JsonlWriter.open(paths.output, { fsync, images });
    const failures = await JsonlWriter.open(paths.failures, { fsync, images });
    const { materializedRows, done, terminal, exhausted } = rollouts.summary;
    let meter: ResourceMeter | undefined;
    const collection = new Collection({
      executor,
      spent,
      rows: rollouts.rows(),
      total: materializedRows,
      alreadyDone: done,
      earlier: rollouts.earlier,
      alreadyLost: { terminal, outOfAttempts: exhausted },
      output,
      failures,
      limits,
      totals,
      onOutcome: (event) => {
        meter?.ended(event.milliseconds);
        onEvent({ type: "outcome", ...event });
      },
      onNotice: this.notice,
      drain,
      stop: signal,
    });
    await execution.attach?.(collection);
    onEvent({ type: "started", collection, paths });
    meter = ResourceMeter.start(() => collection.inFlight);
    try {
      return await closing([output, failures], () => collection.run());
    } finally {
      if (meter) await this.#keepResources(meter, execution);
    }
  }

  async #keepResources(meter: ResourceMeter, { servers, resources }: Execution): Promise<void> {
    const run = meter.figures();
    meter.close();
    try {
      const workers = (await resources?.()) ?? {};
      await writeResources(this.paths.resources, { servers, run, workers });
    } catch (error) {
      this.notice(`The figures of the run could not be saved: ${errorMessage(error)}`);
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
