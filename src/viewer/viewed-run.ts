import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errorMessage } from "../errors.ts";
import type {
  FileStatus,
  ListedRow,
  Overview,
  PanelTexts,
  RowGone,
  RowRef,
  RowsPage,
  Source,
  TasksPage,
  ViewerStatus,
} from "./api-types.ts";
import { FileChangedError, ViewerRequestError } from "./errors.ts";
import { rewardOverview, taskEntries } from "./reward-overview.ts";
import { RolloutFile } from "./rollout-file.ts";
import { type RowColumns, type RowTexts, textsOf } from "./row-columns.ts";
import type { RowQuery } from "./row-query.ts";
import { summarizeLine } from "./row-summary.ts";
import type { RunFiles } from "./run-files.ts";
import { RunSearches } from "./run-searches.ts";
import { isFailureRow, rowOf, selectRows } from "./select-rows.ts";
import { readSmallFile } from "./small-file.ts";

/** How often a growing file is looked at. */
const FOLLOW_MS = 500;
const CACHED_VIEWS = 8;
/** Longest row sent to the browser whole. */
const MAX_ROW_BYTES = 32 * 1024 * 1024;
/** Longest beginning of a line that is no row. */
const MAX_RAW_BYTES = 64 * 1024;
const MAX_BESIDE_BYTES = 4 * 1024 * 1024;

/** A run as its files tell it, now and while they grow. */
export class ViewedRun {
  readonly files: RunFiles;
  readonly rollouts: RolloutFile;
  readonly failures: RolloutFile;
  readonly #searches: RunSearches;
  readonly #views = new Map<string, Int32Array>();
  #indexing = true;
  #error: string | null = null;
  #version = 0;
  #versionKey = "";

  constructor(files: RunFiles) {
    this.files = files;
    this.rollouts = new RolloutFile(files.rollouts);
    this.failures = new RolloutFile(files.failures);
    this.#searches = new RunSearches([this.rollouts, this.failures]);
  }

  /** Reads the files and goes on reading what is added to them, until the signal. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.update(signal);
        this.#error = null;
      } catch (error) {
        if (signal.aborted) break;
        this.#error = errorMessage(error);
      }
      await sleep(FOLLOW_MS, undefined, { signal, ref: false }).catch(() => {});
    }
    await this.close();
  }

  /** Reads what is new in both files. */
  async update(signal?: AbortSignal): Promise<void> {
    // The failures first: there are few, and rewards mean little without them.
    await this.failures.update(signal);
    await this.rollouts.update(signal);
    this.#indexing = false;
  }

  async close(): Promise<void> {
    this.#searches.stop();
    await Promise.all([this.rollouts.close(), this.failures.close()]);
  }

  async status(): Promise<ViewerStatus> {
    let invalid = 0;
    let unreadable = 0;
    for (const { columns } of [this.rollouts, this.failures]) {
      invalid += columns.stateCount("invalid");
      unreadable += columns.stateCount("unreadable");
    }
    return {
      rollouts: fileStatus(this.rollouts),
      failures: fileStatus(this.failures),
      version: this.version,
      generation: this.generation,
      indexing: this.#indexing,
      expected: await this.#expected(),
      agents: [...new Set([...this.rollouts.columns.agents.all, ...this.failures.columns.agents.all])].sort(),
      failure_classes: [
        ...new Set([...this.rollouts.columns.failures.all, ...this.failures.columns.failures.all]),
      ].sort(),
      invalid,
      unreadable,
      error: this.#error,
    };
  }

  get generation(): number {
    return this.rollouts.progress.generation + this.failures.progress.generation;
  }

  get version(): number {
    const { rollouts, failures } = this;
    const key = `${this.generation}:${rollouts.columns.length}:${failures.columns.length}:${rollouts.progress.tornLine}`;
    if (key !== this.#versionKey) {
      this.#versionKey = key;
      this.#version++;
    }
    return this.#version;
  }

  /** One page of the list. */
  async page(query: RowQuery, signal?: AbortSignal): Promise<RowsPage> {
    const { selected, search } = await this.#select(query, signal);
    const { version, generation } = this;
    const codes = selected.subarray(query.offset, query.offset + query.limit);
    const rows: ListedRow[] = [];
    const columns = { rollouts: this.rollouts.columns, failures: this.failures.columns };
    for (const code of codes) rows.push(await this.#listed(code, columns));
    return {
      version,
      generation,
      total: selected.length,
      offset: query.offset,
      rows,
      located: locate(selected, query.locate),
      search,
    };
  }

  async overview(query: RowQuery, signal?: AbortSignal): Promise<Overview> {
    const { selected } = await this.#select(query, signal);
    return { version: this.version, ...rewardOverview(this, selected, query.pass_threshold) };
  }

  async tasks(query: RowQuery, signal?: AbortSignal): Promise<TasksPage> {
    const { selected } = await this.#select(query, signal);
    const tasks = taskEntries(this, selected, query);
    return {
      version: this.version,
      total: tasks.length,
      offset: query.offset,
      tasks: tasks.slice(query.offset, query.offset + query.limit),
    };
  }

  /** The dataset statistics over the rollouts, and the metrics files of the run. */
  async statistics(): Promise<PanelTexts> {
    const { json, leftOut } = this.rollouts.panel.result();
    const files: PanelTexts["files"] = [];
    for (const file of [this.files.aggregateMetrics, this.files.statistics]) {
      // One that cannot be read is said to be so, where its text would stand.
      const text = await readSmallFile(file, MAX_BESIDE_BYTES).catch(errorMessage);
      if (text !== undefined) files.push({ name: path.basename(file), text });
    }
    return { dataset: json, left_out: leftOut, files };
  }

  /**
   * A row as JSON text: `{source, line, path, state, problems, bytes, raw, row}`, where `row` is the line as it stands, so that the browser
   * sees every digit and key as it was written.
   */
  async rowText({ source, line }: RowRef): Promise<string> {
    const file = this[source];
    const row = line - 1;
    if (row < 0 || row >= file.columns.length) {
      throw new ViewerRequestError(
        404,
        `${path.basename(file.path)} has no line ${line}; it has ${file.columns.length} (so far).`,
      );
    }
    const bytes = file.columns.bytes.at(row);
    const state = file.columns.state(row);
    const readable = state !== "unreadable";
    if (readable && bytes > MAX_ROW_BYTES) {
      const limit = MAX_ROW_BYTES / 1024 / 1024;
      throw new ViewerRequestError(
        413,
        `${file.path}:${line} is ${Math.round(bytes / 1e6)} MB long; rows up to ${limit} MB are shown.`,
      );
    }
    const text = (await file.read(row, readable ? MAX_ROW_BYTES : MAX_RAW_BYTES)).toString("utf8");
    const summary = readable ? summarizeLine({ text, problem: undefined }) : await file.summary(row);
    // What was a row is none any more: the file was written anew in between.
    if (readable && summary.state === "unreadable") throw new FileChangedError(file.path);
    const { problems } = summary;
    const about = {
      source,
      line,
      path: file.path,
      state,
      problems,
      bytes,
      raw: readable ? null : text,
    };
    return `${JSON.stringify(about).slice(0, -1)},"row":${readable ? text : "null"}}`;
  }

  /**
   * The same for one who knows the files of a `generation`. Other files in their place are nothing to be alarmed about: the answer
   * says `changed`, and the next status tells of the new ones.
   */
  async rowTextOf(generation: number, ref: RowRef): Promise<string> {
    const gone: RowGone = { source: ref.source, line: ref.line, state: "changed" };
    if (generation !== this.generation) return JSON.stringify(gone);
    try {
      return await this.rowText(ref);
    } catch (error) {
      if (error instanceof FileChangedError) return JSON.stringify(gone);
      throw error;
    }
  }

  async #select(query: RowQuery, signal?: AbortSignal) {
    const search = query.text === "" ? undefined : await this.#searches.advance(query.text, signal);
    const { offset: _offset, limit: _limit, locate: _locate, pass_threshold: _threshold, ...filter } = query;
    const key = JSON.stringify([this.version, search?.progress, filter]);
    const known = this.#views.get(key);
    const selected = known ?? selectRows(this, query, (file, row) => search?.has(file, row) ?? true);
    this.#views.delete(key);
    this.#views.set(key, selected);
    for (const oldest of this.#views.keys()) {
      if (this.#views.size <= CACHED_VIEWS) break;
      this.#views.delete(oldest);
    }
    return { selected, search: search?.progress ?? null };
  }

  async #listed(code: number, known: Record<Source, RowColumns>): Promise<ListedRow> {
    const source: Source = isFailureRow(code) ? "failures" : "rollouts";
    const columns = known[source];
    const row = rowOf(code);
    const texts = columns.texts(row) ?? (await this.#textsFromFile(source, row, columns));
    const failure = columns.failures.name(columns.failure.at(row)) ?? null;
    return {
      source,
      line: row + 1,
      state: columns.state(row),
      task: numberOrNull(columns.task.at(row)),
      rollout: numberOrNull(columns.rollout.at(row)),
      reward: failure === null ? numberOrNull(columns.reward.at(row)) : null,
      agent: columns.agents.name(columns.agent.at(row)) ?? null,
      failure,
      masked: columns.masked(row),
      output_tokens: numberOrNull(columns.outputTokens.at(row)),
      response_id: texts.responseId ?? null,
      prompt: texts.prompt,
      answer: texts.answer,
      problem: texts.problem ?? null,
    };
  }

  async #textsFromFile(source: Source, row: number, columns: RowColumns): Promise<RowTexts> {
    const file = this[source];
    try {
      if (columns !== file.columns) throw new FileChangedError(file.path);
      return textsOf(await file.summary(row));
    } catch (error) {
      if (!(error instanceof FileChangedError)) throw error;
      // The list is asked for again as soon as the file has been read anew.
      return { responseId: undefined, prompt: "", answer: "", problem: error.message };
    }
  }

  async #expected(): Promise<number | null> {
    try {
      const text = await readSmallFile(this.files.manifest, MAX_BESIDE_BYTES);
      if (text === undefined) return null;
      const manifest = JSON.parse(text) as { materialized_inputs?: { rows?: unknown } } | null;
      const rows = manifest?.materialized_inputs?.rows;
      return typeof rows === "number" ? rows : null;
    } catch {
      // Whatever it is, it is no manifest we can read, and the rollouts do not depend on it.
      return null;
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
