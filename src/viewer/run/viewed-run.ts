import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { validateRow } from "../../datasets/row-validation.ts";
import { errorMessage } from "../../errors.ts";
import type { Coverage } from "../../metrics/coverage.ts";
import { readRows } from "../../rollouts/files/jsonl-rows.ts";
import type {
  AttemptEntry,
  FileStatus,
  ListedRow,
  Overview,
  PanelTexts,
  RowGone,
  RowRef,
  RowsPage,
  RunEntry,
  SearchProgress,
  Source,
  TasksPage,
  ViewerStatus,
} from "../api-types.ts";
import { FileChangedError, ViewerRequestError } from "../errors.ts";
import { RolloutFile } from "../index/rollout-file.ts";
import { outlineOf, WHOLE_ROW_BYTES } from "../index/row-outline.ts";
import { problemsOf } from "../index/row-problems.ts";
import type { RowRequest } from "../query/request.ts";
import { RunSearches } from "../query/run-searches.ts";
import { isFailureRow, rowOf, selectRows } from "../query/select-rows.ts";
import { Annotations } from "./annotations.ts";
import { DatasetPanel } from "./dataset-panel.ts";
import { coverageOf, failureClasses, figuresOf } from "./overview.ts";
import { entryOfRun } from "./run-entry.ts";
import type { RunFiles } from "./run-files.ts";
import { NO_INFO, type RunInfo, readProgress, readRunInfo } from "./run-info.ts";
import { readSmallFile } from "./small-file.ts";
import { taskGrid } from "./task-grid.ts";

/** How often a growing file is looked at. */
const FOLLOW_MS = 200;
const CACHED_VIEWS = 8;
/** Longest beginning of a line that is no row. */
const MAX_RAW_BYTES = 64 * 1024;
const MAX_BESIDE_BYTES = 4 * 1024 * 1024;
/** Longest part of a row sent at once. */
const MAX_PART_BYTES = 16 * 1024 * 1024;
const MAX_ATTEMPTS = 100;

/** A run as its files tell it, now and while they grow. */
export class ViewedRun {
  readonly id: string;
  readonly files: RunFiles;
  /** Where the files were copied from; a copy is removed at the end, so nothing is kept beside it. */
  readonly copyOf: string | undefined;
  readonly rollouts: RolloutFile;
  readonly failures: RolloutFile;
  readonly annotations: Annotations;
  info: RunInfo = NO_INFO;
  readonly #searches: RunSearches;
  readonly #views = new Map<string, Int32Array>();
  #overview: { key: string; value: Omit<Overview, "search" | "complete"> } | undefined;
  #coverage: { version: number; value: Coverage } | undefined;
  #indexing = true;
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
    this.#searches = new RunSearches([this.rollouts, this.failures]);
  }

  /** Reads the files and goes on reading what is added to them, until `close`. */
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
      if (state !== announced) for (const watcher of this.#watchers) watcher();
      announced = state;
      await sleep(FOLLOW_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Calls `changed` whenever there is something new to show; returns how to end that. */
  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  /** Reads what is new in all files. */
  async update(signal?: AbortSignal): Promise<void> {
    if (this.info.createdAt === undefined) this.info = await readRunInfo(this.files.manifest);
    await this.annotations.update();
    // The failures first: there are few, and rewards mean little without them.
    await this.failures.update(signal);
    await this.rollouts.update(signal);
    this.#indexing = false;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#following;
    this.#searches.stop();
    await Promise.all([this.rollouts.close(), this.failures.close()]);
  }

  async entry(): Promise<RunEntry> {
    const entry = await entryOfRun(this);
    return { ...entry, path: this.copyOf ?? entry.path };
  }

  get indexing(): boolean {
    return this.#indexing;
  }

  async status(): Promise<ViewerStatus> {
    const both = [this.rollouts.columns, this.failures.columns];
    const names = (of: "agents" | "failures" | "models") =>
      [...new Set(both.flatMap((columns) => columns[of].all))].sort();
    return {
      run: await this.entry(),
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
    const { version } = this;
    if (this.#coverage?.version !== version)
      this.#coverage = { version, value: coverageOf(this, this.info.expected) };
    return this.#coverage.value;
  }

  /** One page of the list. */
  async page(request: RowRequest, signal?: AbortSignal): Promise<RowsPage> {
    const { selected, search } = await this.#select(request, signal);
    const { version, generation } = this;
    const codes = selected.subarray(request.offset, request.offset + request.limit);
    return {
      version,
      generation,
      total: selected.length,
      offset: request.offset,
      rows: await Promise.all([...codes].map((code) => this.listed(code))),
      located: locate(selected, request.locate),
      search,
    };
  }

  /** Every row a request lets through, by code. */
  async selected(request: RowRequest, signal?: AbortSignal): Promise<Int32Array> {
    for (;;) {
      const { selected, search } = await this.#select(request, signal);
      if (search === null || search.done) return selected;
    }
  }

  async overview(request: RowRequest, signal?: AbortSignal): Promise<Overview> {
    const { selected, search } = await this.#select({ ...request, sort: "file", order: "asc" }, signal);
    const key = JSON.stringify([this.version, this.annotations.version, request.q, request.pass, search]);
    if (this.#overview?.key !== key) this.#overview = { key, value: await this.#figures(request, selected) };
    return { ...this.#overview.value, search, complete: !this.#indexing && (search?.done ?? true) };
  }

  async #figures(request: RowRequest, selected: Int32Array): Promise<Omit<Overview, "search" | "complete">> {
    const progress = await readProgress(this.files.progress);
    const environmentOf = (agent: string) => this.info.environments.get(agent) ?? null;
    const { totals, ...figures } = figuresOf(this, selected, { pass: request.pass, environmentOf });
    return {
      version: this.version,
      filtered: request.terms.length > 0,
      coverage: { ...this.coverage, running: progress?.in_flight ?? 0 },
      pass_threshold: request.pass,
      ...figures,
      totals: {
        ...totals,
        spent: progress?.spent ?? null,
        elapsed_seconds: progress?.elapsed_seconds ?? null,
        model_calls: progress?.model_calls ?? null,
      },
      history: progress?.history ?? [],
      failures: failureClasses(this).map((entry) => ({
        ...entry,
        message: progress?.failure_messages?.[entry.class] ?? null,
      })),
    };
  }

  async tasks(
    request: RowRequest,
    others: ReadonlyMap<number, number> | undefined,
    signal?: AbortSignal,
  ): Promise<TasksPage> {
    const { selected, search } = await this.#select({ ...request, sort: "file", order: "asc" }, signal);
    return { version: this.version, search, ...(await taskGrid(this, selected, request, others)) };
  }

  /** The mean reward of every task. */
  taskMeans(): Map<number, number> {
    const sums = new Map<number, [sum: number, count: number]>();
    const { columns } = this.rollouts;
    for (let row = 0; row < columns.length; row++) {
      const reward = columns.countedReward(row);
      const task = columns.task(row);
      if (Number.isNaN(reward) || Number.isNaN(task)) continue;
      const [sum, count] = sums.get(task) ?? [0, 0];
      sums.set(task, [sum + reward, count + 1]);
    }
    return new Map([...sums].map(([task, [sum, count]]) => [task, sum / count]));
  }

  /** The dataset statistics over the rollouts, and the metrics files of the run. */
  async statistics(signal?: AbortSignal): Promise<PanelTexts> {
    const panel = new DatasetPanel();
    const reading = { skipBlank: true, onTornLine: () => {}, ...(signal && { signal }) };
    let problem: string | undefined;
    try {
      for await (const { row } of readRows(this.files.rollouts, reading)) {
        const verdict = validateRow(row);
        if (verdict.valid) panel.observe(row, verdict.params);
      }
    } catch (error) {
      signal?.throwIfAborted();
      problem = errorMessage(error);
    }
    const { json, leftOut } = panel.result();
    const files: PanelTexts["files"] = [];
    for (const file of [
      this.files.aggregateMetrics,
      this.files.statistics,
      this.files.manifest,
      this.files.progress,
    ]) {
      // One that cannot be read is said to be so, where its text would stand.
      const text = await readSmallFile(file, MAX_BESIDE_BYTES).catch(errorMessage);
      if (text !== undefined) files.push({ name: path.basename(file), text });
    }
    const left =
      problem === undefined ? [] : [{ field: "(rows after the first that cannot be read)", reason: problem }];
    return { dataset: json, left_out: [...leftOut, ...left], files };
  }

  /**
   * A row as JSON text: what `RowAnswer` has, where `row` is the line as it stands, so that the browser sees every digit and key as it was
   * written. Long values of a large row are cut; `part` gives them.
   */
  async rowText({ source, line }: RowRef): Promise<string> {
    const { file, row } = this.#placeOf({ source, line });
    const { columns } = file;
    const bytes = columns.bytes(row);
    const readable = columns.isReadable(row);
    const buffer = await file.read(row, readable ? undefined : MAX_RAW_BYTES);
    const outline =
      readable && bytes > WHOLE_ROW_BYTES ? outlineOf(buffer) : { text: buffer.toString("utf8"), elided: [] };
    // A large row is not checked against the schema: it is cut, and looking through all of it would take a second.
    const problems = outline.elided.length === 0 ? problemsOf(outline.text) : [];
    const [task, rollout] = [columns.task(row), columns.rollout(row)];
    const about = {
      source,
      line,
      path: file.path,
      readable,
      problems,
      bytes,
      raw: readable ? null : outline.text,
      elided: outline.elided,
      annotation: this.annotations.of(task, rollout) ?? null,
      attempts: this.#attempts(task, rollout),
    };
    return `${JSON.stringify(about).slice(0, -1)},"row":${readable ? outline.text : "null"}}`;
  }

  /** The bytes of a row between two places, as they stand. */
  async part(ref: RowRef, from: number, to: number): Promise<Buffer> {
    const { file, row } = this.#placeOf(ref);
    if (to - from > MAX_PART_BYTES)
      throw new ViewerRequestError(413, `A part is at most ${MAX_PART_BYTES / 1024 / 1024} MB long.`);
    return file.read(row, Math.max(0, to - from), from);
  }

  #placeOf({ source, line }: RowRef): { file: RolloutFile; row: number } {
    const file = this[source];
    const rows = file.columns.length;
    if (line < 1 || line > rows)
      throw new ViewerRequestError(
        404,
        `${path.basename(file.path)} has no line ${line}; it has ${rows} (so far).`,
      );
    return { file, row: line - 1 };
  }

  /**
   * The same for one who knows the files of a `generation`. Other files in their place are nothing to be alarmed about: the answer
   * says `changed`, and the next status tells of the new ones.
   */
  async rowTextOf(generation: number, ref: RowRef): Promise<string> {
    const gone: RowGone = { source: ref.source, line: ref.line, changed: true };
    if (generation !== this.generation) return JSON.stringify(gone);
    try {
      return await this.rowText(ref);
    } catch (error) {
      if (error instanceof FileChangedError) return JSON.stringify(gone);
      throw error;
    }
  }

  /** All attempts at a rollout, the completed one last. */
  #attempts(task: number, rollout: number): AttemptEntry[] {
    if (Number.isNaN(task) || Number.isNaN(rollout)) return [];
    const found: AttemptEntry[] = [];
    for (const [source, { columns }] of [
      ["failures", this.failures],
      ["rollouts", this.rollouts],
    ] as const) {
      for (let row = 0; row < columns.length && found.length < MAX_ATTEMPTS; row++) {
        if (columns.task(row) !== task || columns.rollout(row) !== rollout) continue;
        const failure = columns.failure(row) ?? null;
        found.push({
          source,
          line: row + 1,
          attempt: columns.attempt(row),
          failure,
          reward: failure === null ? numberOrNull(columns.reward(row)) : null,
        });
      }
    }
    return found;
  }

  async #select(
    request: RowRequest,
    signal?: AbortSignal,
  ): Promise<{ selected: Int32Array; search: SearchProgress | null }> {
    const texts = [...new Set(request.terms.flatMap((term) => (term.kind === "text" ? [term.text] : [])))];
    const found = texts.length === 0 ? undefined : await this.#searches.advance(texts, signal);
    const { q, sort, order, pass } = request;
    const key = JSON.stringify([
      this.version,
      this.annotations.version,
      found?.progress,
      q,
      sort,
      order,
      pass,
    ]);
    const known = this.#views.get(key);
    const selected =
      known ?? selectRows(this, request, (file, row, text) => found?.has(file, row, text) ?? true);
    this.#views.delete(key);
    this.#views.set(key, selected);
    for (const oldest of this.#views.keys()) {
      if (this.#views.size <= CACHED_VIEWS) break;
      this.#views.delete(oldest);
    }
    return { selected, search: found?.progress ?? null };
  }

  async listed(code: number): Promise<ListedRow> {
    const source: Source = isFailureRow(code) ? "failures" : "rollouts";
    const file = this[source];
    const { columns } = file;
    const row = rowOf(code);
    const texts = await this.#texts(file, row);
    const failure = columns.failure(row) ?? null;
    const [task, rollout] = [columns.task(row), columns.rollout(row)];
    return {
      source,
      line: row + 1,
      readable: columns.isReadable(row),
      task: numberOrNull(task),
      rollout: numberOrNull(rollout),
      reward: failure === null ? numberOrNull(columns.reward(row)) : null,
      agent: columns.agent(row) ?? null,
      model: columns.models.name(columns.modelId(row)) ?? null,
      failure,
      masked: columns.masked(row),
      attempt: columns.attempt(row),
      input_tokens: numberOrNull(columns.inputTokens(row)),
      output_tokens: numberOrNull(columns.outputTokens(row)),
      cost: numberOrNull(columns.cost(row)),
      duration_ms: numberOrNull(columns.durationMs(row)),
      turns: numberOrNull(columns.turns(row)),
      tool_calls: numberOrNull(columns.toolCalls(row)),
      tools: columns.toolSets.name(columns.toolSetId(row))?.split("\n") ?? [],
      bytes: columns.bytes(row),
      ...texts,
      annotation: this.annotations.of(task, rollout) ?? null,
    };
  }

  async #texts(file: RolloutFile, row: number): Promise<{ prompt: string; answer: string }> {
    try {
      if (file.columns.isReadable(row)) return await file.excerpts(row);
      const raw = await file.read(row, MAX_RAW_BYTES);
      return {
        prompt: problemsOf(raw.toString("utf8"))[0]?.message ?? "the line cannot be read",
        answer: "",
      };
    } catch (error) {
      if (!(error instanceof FileChangedError)) throw error;
      // The list is asked for again as soon as the file has been read anew.
      return { prompt: "", answer: "" };
    }
  }
}

function locate(selected: Int32Array, wanted: string | undefined): number | null {
  if (wanted === undefined) return null;
  const [source, line] = wanted.split(":");
  const row = Number(line) - 1;
  const place = selected.indexOf(source === "failures" ? -row - 1 : row);
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
    torn_line: tornLine,
  };
}

function numberOrNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
