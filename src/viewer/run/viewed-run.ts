import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errorMessage } from "../../base/errors.ts";
import type { RunFiles } from "../../records/files/door.ts";
import type { Coverage } from "../../records/metrics/door.ts";
import type {
  FileStatus,
  Overview,
  RowRef,
  RowSource,
  RowsPage,
  SearchProgress,
  TaskList,
  ViewerStatus,
} from "../api-types.ts";
import { RolloutFile } from "../index/rollout-file.ts";
import type { RowRequest } from "../query/request.ts";
import { RunSearches } from "../query/run-searches.ts";
import {
  columnsOf,
  isFailureRow,
  matchingRows,
  type RowCode,
  rowCodeOf,
  rowOf,
} from "../query/select-rows.ts";
import { Annotations } from "./annotations.ts";
import { Outcomes } from "./outcomes.ts";
import { overviewOf } from "./overview.ts";
import { coverageNow, headOfRun } from "./run-entry.ts";
import { NO_INFO, type RunInfo, readProgress, readRunInfo } from "./run-info.ts";
import { RunRows } from "./run-rows.ts";
import { taskGrid } from "./task-grid.ts";
import { InputsByTask } from "./task-inputs.ts";

/** Polling interval of a growing file. */
const FOLLOW_MS = 200;
const CACHED_VIEWS = 8;

/** A run and its files, which may still grow. */
export class ViewedRun {
  readonly id: string;
  readonly files: RunFiles;
  /** The source of copied files; a copy is removed at the end, so no index or annotations are stored. */
  readonly copyOf: string | undefined;
  readonly rollouts: RolloutFile;
  readonly failures: RolloutFile;
  readonly annotations: Annotations;
  readonly inputs: InputsByTask;
  readonly rows: RunRows;
  info: RunInfo = NO_INFO;
  readonly #searches: RunSearches;
  readonly #views = new Map<string, Int32Array>();
  #overview: { key: string; value: ReturnType<typeof overviewOf> } | undefined;
  #outcomes: { version: number; value: Outcomes } | undefined;
  /** The lost rows that the running collection retries. */
  #retried: { key: string; value: ReadonlySet<RowCode> } | undefined;
  #indexing = true;
  /** Whether the first rows have been announced. */
  #hasLooked = false;
  #error: string | null = null;
  #version = 0;
  #versionKey = "";
  readonly #watchers = new Set<() => void>();
  #stop = new AbortController();
  #following: Promise<void> | undefined;

  constructor(id: string, files: RunFiles, copyOf?: string) {
    this.id = id;
    this.files = files;
    this.copyOf = copyOf;
    this.rollouts = new RolloutFile(files.rollouts);
    this.failures = new RolloutFile(files.failures);
    this.annotations = new Annotations(files.rollouts);
    this.inputs = new InputsByTask(files.materializedInputs);
    this.rows = new RunRows(this);
    this.#searches = new RunSearches([this.rollouts, this.failures]);
  }

  /** Reads the files and follows additions until `close`. */
  start(): void {
    this.#following ??= this.#follow(this.#stop.signal);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let announced = "";
    while (!signal.aborted) {
      try {
        await this.update(signal);
        this.#error = null;
      } catch (error) {
        if (signal.aborted) break;
        this.#error = errorMessage(error);
      }
      const state = `${this.version}:${this.annotations.version}:${this.#error}`;
      if (state !== announced) this.#announce();
      announced = state;
      await sleep(FOLLOW_MS, undefined, { signal, ref: false }).catch(() => {});
    }
    this.#announce();
  }

  #announce(): void {
    for (const watcher of this.#watchers) watcher();
  }

  /** Waits for the first look at the files: until then an empty answer would say nothing about them. */
  opened(): Promise<void> {
    return this.#until(() => this.rollouts.columns.length > 0 || this.#error !== null);
  }

  /** Waits until the files have been read to their end. */
  read(signal?: AbortSignal): Promise<void> {
    return this.#until(() => false, signal);
  }

  /** Waits until a row has been read. It may not exist, or its file may not be readable. */
  readTo({ source, line }: RowRef): Promise<void> {
    return this.#until(() => this[source].columns.length >= line || this.#error !== null);
  }

  /** Waits for a state that an announcement may bring; the end of the first reading, or of this run, always ends it. */
  async #until(isReached: () => boolean, signal?: AbortSignal): Promise<void> {
    while (this.#indexing && !this.#stop.signal.aborted && !isReached()) {
      signal?.throwIfAborted();
      await new Promise<void>((resolve) => {
        const end = this.watch(() => {
          end();
          resolve();
        });
      });
    }
  }

  /** Calls `changed` on every update; returns a function that unsubscribes. */
  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  /** Reads additions to all files. */
  async update(signal?: AbortSignal): Promise<void> {
    if (this.info.createdAt === undefined) this.info = await readRunInfo(this.files.manifest);
    await this.annotations.update();
    // The failures first, because there are few, and rewards are hard to interpret without them.
    await this.failures.update(signal);
    await this.rollouts.update(signal, () => {
      if (this.#hasLooked) return;
      this.#hasLooked = true;
      this.#announce();
    });
    this.#indexing = false;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#following;
    this.#searches.stop();
    await Promise.all([this.rollouts.close(), this.failures.close()]);
  }

  get indexing(): boolean {
    return this.#indexing;
  }

  async status(): Promise<ViewerStatus> {
    const both = [this.rollouts.columns, this.failures.columns];
    const names = (of: "agents" | "failures" | "models") =>
      [...new Set(both.flatMap((columns) => columns[of].all))].sort();
    return {
      run: await headOfRun(this),
      rollouts: fileStatus(this.rollouts),
      failures: fileStatus(this.failures),
      version: this.version,
      generation: this.generation,
      indexing: this.#indexing,
      agents: names("agents"),
      models: names("models"),
      tools: [
        ...new Set(both.flatMap(({ toolSets }) => toolSets.all.flatMap((set) => set.split("\n")))),
      ].sort(),
      failure_classes: names("failures"),
      labels: this.annotations.labels,
      unreadable: this.rollouts.columns.unreadable + this.failures.columns.unreadable,
      error: this.#error,
      annotated: this.annotations.version,
      can_annotate: this.copyOf === undefined,
    };
  }

  get generation(): number {
    return this.rollouts.progress.generation + this.failures.progress.generation;
  }

  get version(): number {
    const { rollouts, failures } = this;
    const { exists, tornLine } = rollouts.progress;
    const key = `${this.generation}:${rollouts.columns.length}:${failures.columns.length}:${tornLine}:${exists}:${this.#indexing}`;
    if (key !== this.#versionKey) {
      this.#versionKey = key;
      this.#version++;
    }
    return this.#version;
  }

  get coverage(): Coverage {
    return this.outcomes.coverage(this.info.expected);
  }

  /** What became of each rollout, as far as the rows show. */
  get outcomes(): Outcomes {
    const { version } = this;
    if (this.#outcomes?.version !== version) this.#outcomes = { version, value: new Outcomes(this) };
    return this.#outcomes.value;
  }

  /** Whether the address of the task and repeat of a row opens this row. Not known while the files are being read. */
  isAddressed = (code: RowCode): boolean => this.#indexing || this.outcomes.isOutcome(code);

  /**
   * Whether a rollout was lost with a row. While a collection writes the run, the rollouts that it retries are not
   * lost. The result is the same while `key` is the same.
   */
  async lost(): Promise<{ key: string; isLost: (code: RowCode) => boolean }> {
    const progress = await readProgress(this.files.progress);
    const { outcomes, coverage, version } = this;
    const now = await coverageNow(this.files, coverage, progress);
    const { failed } = now.coverage;
    const isRetrying = coverage.failed > failed;
    const before = Math.min(progress?.failed_before ?? 0, failed);
    const attempts = Object.values(progress?.failures_by_class ?? {}).reduce((sum, own) => sum + own, 0);
    const numbers = { failed, before, attempts };
    const key = JSON.stringify([version, isRetrying && numbers]);
    if (this.#retried?.key !== key)
      this.#retried = { key, value: isRetrying ? outcomes.retried(numbers) : new Set() };
    const { value: retried } = this.#retried;
    return { key, isLost: (code) => outcomes.isLostBy(code) && !retried.has(code) };
  }

  /** One page of the list. */
  async page(request: RowRequest, signal?: AbortSignal): Promise<RowsPage> {
    const { selected, search } = await this.#select(request, signal);
    const { version, generation } = this;
    const codes = [...selected.subarray(request.offset, request.offset + request.limit)];
    // Only needed for failed rows: it takes a pass over all rows.
    const isLost = codes.some((code) => this.#isFailed(code)) ? (await this.lost()).isLost : () => false;
    return {
      version,
      generation,
      total: selected.length,
      offset: request.offset,
      rows: await Promise.all(codes.map((code) => this.rows.listed(code, isLost))),
      located: locate(selected, request.locate),
      search,
      complete: this.#isComplete(search),
    };
  }

  /** All rows that match a request, by code. */
  async selected(request: RowRequest, signal?: AbortSignal): Promise<Int32Array> {
    await this.read(signal);
    for (;;) {
      const { selected, search } = await this.#select(request, signal);
      if (search === null || search.done) return selected;
    }
  }

  async overview(request: RowRequest, signal?: AbortSignal): Promise<Overview> {
    const { selected, search } = await this.#select({ ...request, sort: "file", order: "asc" }, signal);
    const lost = await this.lost();
    const key = JSON.stringify([lost.key, this.annotations.version, request.q, request.pass, search]);
    if (this.#overview?.key !== key) {
      const progress = await readProgress(this.files.progress);
      const failed = this.failures.columns.rows();
      const value = overviewOf(this, selected, request.pass, failed, lost.isLost, progress);
      this.#overview = { key, value };
    }
    const { value } = this.#overview;
    // A run may end without a new row, so this is never cached.
    const progress = await readProgress(this.files.progress);
    const { coverage, running } = await coverageNow(this.files, this.coverage, progress);
    return {
      ...value,
      filtered: request.terms.length > 0,
      coverage: { ...coverage, running },
      search,
      complete: this.#isComplete(search),
    };
  }

  /** The overview of some rows of the run, as if the run had no others. */
  async overviewOf(codes: Int32Array): Promise<Overview> {
    const { isLost } = await this.lost();
    // The attempts at a rollout that completed, or is being retried, are not its outcome.
    const counted = [...codes].filter((code) => !this.#isFailed(code) || isLost(code));
    return {
      ...overviewOf(this, codes, 1, [...codes].filter(isFailureRow).map(rowOf), isLost),
      filtered: false,
      coverage: { ...new Outcomes(this, counted).coverage(null), running: 0 },
      search: null,
      complete: true,
    };
  }

  #isFailed(code: RowCode): boolean {
    return columnsOf(this, code).failed(rowOf(code));
  }

  async tasks(
    request: RowRequest,
    others: ReadonlyMap<number, number> | undefined,
    signal?: AbortSignal,
  ): Promise<TaskList> {
    const { selected, search } = await this.#select({ ...request, sort: "file", order: "asc" }, signal);
    const complete = this.#isComplete(search);
    return { version: this.version, search, complete, ...(await taskGrid(this, selected, request, others)) };
  }

  #isComplete(search: SearchProgress | null): boolean {
    return !this.#indexing && (search?.done ?? true);
  }

  async #select(
    request: RowRequest,
    signal?: AbortSignal,
  ): Promise<{ selected: Int32Array; search: SearchProgress | null }> {
    const texts = [...new Set(request.terms.flatMap((term) => (term.kind === "text" ? [term.text] : [])))];
    const found = texts.length === 0 ? undefined : await this.#searches.advance(texts, signal);
    const asksForLost = request.terms.some((term) => term.kind === "is" && term.state === "lost");
    const lost = asksForLost ? await this.lost() : undefined;
    const { q, sort, order, pass } = request;
    const key = JSON.stringify([
      this.version,
      this.annotations.version,
      found?.progress,
      lost?.key,
      q,
      sort,
      order,
      pass,
    ]);
    const known = this.#views.get(key);
    const { rollouts, failures, annotations } = this;
    const from = { rollouts, failures, annotations, isLost: lost?.isLost ?? (() => false) };
    const selected =
      known ?? matchingRows(from, request, (file, row, text) => found?.has(file, row, text) ?? true);
    this.#views.delete(key);
    this.#views.set(key, selected);
    for (const oldest of this.#views.keys()) {
      if (this.#views.size <= CACHED_VIEWS) break;
      this.#views.delete(oldest);
    }
    // Rows that have not been read yet have not been searched either.
    const search = found && { ...found.progress, done: found.progress.done && !this.#indexing };
    return { selected, search: search ?? null };
  }
}

function locate(selected: Int32Array, wanted: string | undefined): number | null {
  if (wanted === undefined) return null;
  const [source, line] = wanted.split(":");
  const place = selected.indexOf(rowCodeOf({ source: source as RowSource, line: Number(line) }));
  return place === -1 ? null : place;
}

function fileStatus(file: RolloutFile): FileStatus {
  const { exists, bytes, indexedBytes, rows, tornLine } = file.progress;
  return {
    name: path.basename(file.path),
    path: file.path,
    exists,
    bytes,
    indexed_bytes: indexedBytes,
    rows,
    bad_lines: file.columns.unreadable,
    torn_line: tornLine,
  };
}
