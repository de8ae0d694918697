import { readFile, stat } from "node:fs/promises";
import { isInfrastructureFailure } from "../../base/failures.ts";
import { isTruthy } from "../../base/python/door.ts";
import { copyWith, isObject } from "../../base/python/json/door.ts";
import { parsePyInt } from "../../base/python/numbers/door.ts";
import { invalidRow, RolloutLineError } from "../../records/errors.ts";
import {
  type ArtifactPaths,
  agentNameOf,
  type JsonlReadOptions,
  keyOfRow,
  LineAccess,
  materializedKey,
  parseRow,
  type Row,
  readLineBatches,
  readRows,
  requireKey,
  restoreImages,
} from "../../records/files/door.ts";
import { RolloutKeyMap } from "../../records/metrics/door.ts";
import { RolloutTally } from "../collect/rollout-tally.ts";

const DEFAULT_MAX_ATTEMPTS = 3;
/** Rows are read as slots become free, so only a few are read ahead. */
const PENDING_CHUNK_BYTES = 64 * 1024;
/** A longer duration is not one. */
const LONGEST_SECONDS = 4_000_000;

/** Maximum number of duplicate positions that a plan remembers. */
const MAX_DUPLICATES_LISTED = 20;

type ResumePaths = Pick<ArtifactPaths, "materializedInputs" | "output" | "failures">;

/** The state of the files of a resumed run. */
export interface ResumeSummary {
  materializedRows: number;
  /** Rows with a result in the output. */
  done: number;
  /** Failed attempts in the sidecar, and the number of rollouts for which at least one of them counts as an attempt. */
  failedAttempts: number;
  rolloutsWithFailures: number;
  /** Not done, and the failure is marked as terminal. */
  terminal: number;
  /** Not done, and all attempts are used. */
  exhausted: number;
  remaining: number;
  /** Output rows whose rollout already had a row; the first few as `file:line`. */
  duplicates: number;
  duplicateLines: string[];
  /** Whether the output ends in an incomplete line; its rollout runs again. */
  tornOutput: boolean;
  tornFailures: boolean;
}

/** A rollout that still has to run. */
export interface PendingRow {
  row: Row;
  taskIndex: number;
  rolloutIndex: number;
  /** Failed attempts so far; if any, `_ng_attempt_index` of the row has the number. */
  attempt: number;
  /** One-based line in the materialized inputs. */
  line?: number;
  /** Byte offset of the line. */
  offset?: number;
}

/** How earlier failures are treated. */
export interface RetrySettings {
  maxAttempts?: number;
  /** Earlier failures do not count. */
  retryFailed?: boolean;
  /** Time-outs and missing files of an environment that were marked as terminal are tried again. */
  retryTerminalTimeouts?: boolean;
  /** The rollouts whose earlier attempts took longest come first. */
  longestFirst?: boolean;
}

export interface ResumePlan {
  summary: ResumeSummary;
  /** Sums over the rollouts in the output. */
  earlier: RolloutTally;
  /** Whether the output contains this rollout. */
  isDone(taskIndex: number, rolloutIndex: number): boolean;
  /** The rollouts to run, in the order of the materialized inputs; read lazily. */
  rows(options?: JsonlReadOptions): AsyncGenerator<PendingRow>;
}

/** Which of the two files that a resume needs are missing. */
export async function missingForResume(paths: ResumePaths): Promise<string[]> {
  const missing: string[] = [];
  for (const path of [paths.materializedInputs, paths.output]) {
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile()) missing.push(path);
  }
  return missing;
}

/** Reads NEMO_GYM_MAX_ROLLOUT_ATTEMPTS: an integer of at least 1; anything else warns and means 3. */
export function maxAttemptsFrom(
  text: string | undefined,
  warn: (message: string) => void = () => undefined,
): number {
  if (text === undefined || text === "") return DEFAULT_MAX_ATTEMPTS;
  const value = Number(parsePyInt(text) ?? Number.NaN);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  warn(
    `NEMO_GYM_MAX_ROLLOUT_ATTEMPTS is '${text}', not a whole number of at least 1; using ${DEFAULT_MAX_ATTEMPTS}.`,
  );
  return DEFAULT_MAX_ATTEMPTS;
}

/** States of a rollout, in one number: bit 0 done, bit 1 terminal, then the failed attempts. */
const DONE = 1;
const TERMINAL = 2;
const ATTEMPT = 4;

/** The plan of a run whose inputs have just been written: every rollout once. */
export function planFresh(paths: Pick<ResumePaths, "materializedInputs">, rows: number): ResumePlan {
  return {
    summary: { ...emptySummary(rows), remaining: rows },
    earlier: new RolloutTally(),
    isDone: () => false,
    rows: (options) => pendingRows(paths.materializedInputs, new RolloutKeyMap(), 1, options),
  };
}

/** The plan without these tasks; their rollouts count as failed for good. */
export function withoutTasks(plan: ResumePlan, tasks: ReadonlySet<number>, rollouts: number): ResumePlan {
  const { summary } = plan;
  const { remaining, terminal } = summary;
  return {
    ...plan,
    summary: { ...summary, remaining: remaining - rollouts, terminal: terminal + rollouts },
    async *rows(options) {
      for await (const pending of plan.rows(options)) if (!tasks.has(pending.taskIndex)) yield pending;
    },
  };
}

function emptySummary(materializedRows: number): ResumeSummary {
  return {
    materializedRows,
    done: 0,
    failedAttempts: 0,
    rolloutsWithFailures: 0,
    terminal: 0,
    exhausted: 0,
    remaining: 0,
    duplicates: 0,
    duplicateLines: [],
    tornOutput: false,
    tornFailures: false,
  };
}

/**
 * Determines the remaining rollouts of an interrupted run. Every file is read once, line by line; a rollout uses about
 * twenty bytes. A row of the output that is not in the materialized inputs is an error, and so is a malformed line,
 * except a torn last one.
 */
export async function planResume(
  paths: ResumePaths,
  options: RetrySettings & { signal?: AbortSignal } = {},
): Promise<ResumePlan> {
  const { maxAttempts = DEFAULT_MAX_ATTEMPTS, signal } = options;
  const states = await materializedKeys(paths.materializedInputs, signal);
  const summary = emptySummary(states.size);
  const earlier = await markDone(paths.output, states, summary, signal);
  const durations = await countFailures(paths.failures, states, summary, options);
  for (const [, , state] of states.entries()) {
    if (state >= ATTEMPT) summary.rolloutsWithFailures++;
    if (state & DONE) summary.done++;
    else if (state & TERMINAL) summary.terminal++;
    else if (attemptsOf(state) >= maxAttempts) summary.exhausted++;
    else summary.remaining++;
  }
  return {
    summary,
    earlier,
    isDone: (taskIndex, rolloutIndex) => ((states.get(taskIndex, rolloutIndex) ?? 0) & DONE) !== 0,
    rows: (readOptions) => {
      const { materializedInputs } = paths;
      const pending = () => pendingRows(materializedInputs, states, maxAttempts, readOptions);
      return options.longestFirst && durations.size > 0
        ? longestFirst(materializedInputs, pending, durations)
        : pending();
    },
  };
}

async function materializedKeys(path: string, signal: AbortSignal | undefined): Promise<RolloutKeyMap> {
  const states = new RolloutKeyMap();
  for await (const batch of readLineBatches(path, { signal, keepReferences: true })) {
    for (const line of batch) {
      const { taskIndex, rolloutIndex } = materializedKey(path, line);
      if (states.has(taskIndex, rolloutIndex))
        throw invalidRow(path, line, `rollout ${rolloutIndex} of task ${taskIndex} occurs twice.`);
      states.set(taskIndex, rolloutIndex, 0);
    }
  }
  return states;
}

/** Marks the rollouts of the output as done and returns their sums. */
async function markDone(
  path: string,
  states: RolloutKeyMap,
  summary: ResumeSummary,
  signal: AbortSignal | undefined,
): Promise<RolloutTally> {
  const tally = new RolloutTally();
  const onTornLine = () => {
    summary.tornOutput = true;
  };
  for await (const { row, line } of readRows(path, { signal, onTornLine, keepReferences: true })) {
    const { taskIndex, rolloutIndex } = requireKey(row, path, line);
    const state = states.get(taskIndex, rolloutIndex);
    if (state === undefined) {
      const problem = `rollout ${rolloutIndex} of task ${taskIndex} is not among the materialized inputs: this output belongs to another run.`;
      throw new RolloutLineError("ROLLOUT_FOREIGN_OUTPUT", path, line.number, problem);
    }
    if (state & DONE) {
      summary.duplicates++;
      if (summary.duplicateLines.length < MAX_DUPLICATES_LISTED)
        summary.duplicateLines.push(`${path}:${line.number}`);
    } else {
      tally.add(row, taskIndex, agentNameOf(row) ?? "");
      tally.written(row);
    }
    states.set(taskIndex, rolloutIndex, state | DONE);
  }
  return tally;
}

/** Failures that older agents marked as terminal although another attempt, or a repaired directory, may succeed. */
const NOT_TERMINAL = new Set([
  "timeout_exceeded",
  "reference_missing",
  "eval_missing",
  "transport_ineligible",
]);

/** Whether a row of a failures file says that its rollout is never tried again. */
export function isTerminalRow(row: Row, retryTerminalTimeouts = false): boolean {
  const name = row["_ng_failure_class"];
  if (retryTerminalTimeouts && typeof name === "string") {
    if (NOT_TERMINAL.has(name)) return false;
    if (name === "skipped") return true;
  }
  return isTruthy(row["_ng_failure_terminal"]);
}

/** Adds the attempts in the failures file to the states. Returns the longest duration of each rollout, in milliseconds. */
async function countFailures(
  path: string,
  states: RolloutKeyMap,
  summary: ResumeSummary,
  { retryFailed = false, retryTerminalTimeouts, signal }: RetrySettings & { signal?: AbortSignal },
): Promise<RolloutKeyMap> {
  const durations = new RolloutKeyMap();
  if (!(await stat(path).catch(() => undefined))?.isFile()) return durations;
  const onTornLine = () => {
    summary.tornFailures = true;
  };
  const reading = { signal, skipBlank: true, onTornLine, keepReferences: true };
  for await (const { row } of readRows(path, reading)) {
    const key = keyOfRow(row);
    const state = key && states.get(key.taskIndex, key.rolloutIndex);
    // A sidecar survives fresh runs (upstream does not delete it), so rows of other inputs are expected.
    if (key === undefined || state === undefined) continue;
    summary.failedAttempts++;
    noteDuration(durations, key, row);
    // Endpoint failures do not count against the rollout.
    if (retryFailed || isInfrastructureFailure(row["_ng_failure_class"])) continue;
    const terminal = isTerminalRow(row, retryTerminalTimeouts) ? TERMINAL : 0;
    states.set(key.taskIndex, key.rolloutIndex, (state | terminal) + ATTEMPT);
  }
  return durations;
}

/** An attempt's duration is in its timing, or where agents of the original write it. */
function noteDuration(
  durations: RolloutKeyMap,
  key: { taskIndex: number; rolloutIndex: number },
  row: Row,
): void {
  const memberOf = (value: unknown, name: string) => (isObject(value) ? value[name] : undefined);
  const seconds = [
    memberOf(row["_ng_timing"], "seconds"),
    row["elapsed_seconds"],
    memberOf(memberOf(row["response"], "metadata"), "elapsed_seconds"),
  ].map(Number);
  const known = seconds.filter((value) => value > 0 && value < LONGEST_SECONDS);
  const longest = Math.max(
    durations.get(key.taskIndex, key.rolloutIndex) ?? 0,
    ...known.map((s) => s * 1000),
  );
  if (longest > 0) durations.set(key.taskIndex, key.rolloutIndex, Math.round(longest));
}

/** First the rollouts with a duration, the longest first, then the others in their order. */
async function* longestFirst(
  path: string,
  pending: () => AsyncGenerator<PendingRow>,
  durations: RolloutKeyMap,
): AsyncGenerator<PendingRow> {
  const known: { place: Omit<PendingRow, "row">; duration: number }[] = [];
  for await (const { row: _row, ...place } of pending()) {
    const duration = durations.get(place.taskIndex, place.rolloutIndex);
    if (duration !== undefined) known.push({ place, duration });
  }
  known.sort((a, b) => b.duration - a.duration);
  const file = new LineAccess(path);
  try {
    for (const { place } of known) {
      const { offset = 0, line: number = 0, attempt } = place;
      const line = { text: file.lineAt(offset), number, offset, byteLength: 0, terminated: true };
      yield { ...place, row: withAttempt(parseRow(path, line), attempt) };
    }
  } finally {
    file.close();
  }
  for await (const next of pending()) if (!durations.has(next.taskIndex, next.rolloutIndex)) yield next;
}

function withAttempt(row: Row, attempt: number): Row {
  return attempt > 0 ? copyWith(row, { _ng_attempt_index: attempt }) : row;
}

async function* pendingRows(
  path: string,
  states: RolloutKeyMap,
  maxAttempts: number,
  options: JsonlReadOptions = {},
): AsyncGenerator<PendingRow> {
  const reading = { ...options, chunkBytes: PENDING_CHUNK_BYTES, keepReferences: true };
  for await (const batch of readLineBatches(path, reading)) {
    for (const line of batch) {
      const { taskIndex, rolloutIndex } = materializedKey(path, line);
      const state = states.get(taskIndex, rolloutIndex) ?? 0;
      const attempt = attemptsOf(state);
      if (state & (DONE | TERMINAL) || attempt >= maxAttempts) continue;
      const row = parseRow(path, { ...line, text: restoreImages(path, line.text) });
      yield {
        row: withAttempt(row, attempt),
        taskIndex,
        rolloutIndex,
        attempt,
        line: line.number,
        offset: line.offset,
      };
    }
  }
}

function attemptsOf(state: number): number {
  return Math.floor(state / ATTEMPT);
}

/**
 * Dollars that earlier sessions of a run spent on model calls: the value of the progress file, which includes failed
 * rollouts and judges, but at least the cost of the rollouts in the output.
 */
export async function earlierSpending(
  paths: Pick<ArtifactPaths, "progress">,
  { earlier }: Pick<ResumePlan, "earlier">,
): Promise<number> {
  return Math.max(earlier.cost ?? 0, await spentIn(paths.progress));
}

/** Best effort: without the file, the cost of the rollouts is used. */
async function spentIn(path: string): Promise<number> {
  try {
    const { spent } = JSON.parse(await readFile(path, "utf8")) as { spent?: unknown };
    return typeof spent === "number" && spent >= 0 ? spent : 0;
  } catch {
    return 0;
  }
}
