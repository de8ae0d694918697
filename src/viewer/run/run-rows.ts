import path from "node:path";
import { dumps, isObject, type JsonObject, JsonTextError, loads } from "../../base/python/json/door.ts";
import { RolloutFileError } from "../../records/errors.ts";
import { IMAGE_FOLDER, restoreImages } from "../../records/files/door.ts";
import type { AttemptEntry, ListedRow, RowGone, RowRef } from "../api-types.ts";
import { prettyJson } from "../conversation/content-parts.ts";
import { verdictOf } from "../conversation/verdict.ts";
import { FileChangedError, ViewerRequestError } from "../errors.ts";
import { excerptOf } from "../index/excerpts.ts";
import { orNull } from "../index/number-column.ts";
import type { RolloutFile } from "../index/rollout-file.ts";
import { outlineOf, shallowOf, WHOLE_ROW_BYTES } from "../index/row-outline.ts";
import { problemsOf } from "../index/row-problems.ts";
import { type RowCode, refOf, rowOf } from "../query/select-rows.ts";
import type { Annotations } from "./annotations.ts";
import type { InputsByTask } from "./task-inputs.ts";

/** Maximum length of the excerpt of a line that is not a row. */
const MAX_RAW_BYTES = 64 * 1024;
/** Maximum size of one part of a row. */
const MAX_PART_BYTES = 16 * 1024 * 1024;
const MAX_ATTEMPTS = 100;
/** Rows above this size are not parsed for the list. */
const MAX_PARSED_BYTES = 512 * 1024;

interface Run {
  rollouts: RolloutFile;
  failures: RolloutFile;
  annotations: Annotations;
  generation: number;
  inputs: InputsByTask;
  isAddressed: (code: RowCode) => boolean;
  readTo: (ref: RowRef) => Promise<void>;
}

/** The rows of a run: shortened for lists, and complete. */
export class RunRows {
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
  }

  async listed(code: RowCode, isLost: (code: RowCode) => boolean): Promise<ListedRow> {
    const ref = refOf(code);
    const file = this.#run[ref.source];
    const { columns } = file;
    const row = rowOf(code);
    const texts = await this.#texts(file, row);
    const failure = columns.failure(row) ?? null;
    const [task, rollout] = [columns.task(row), columns.rollout(row)];
    return {
      ...ref,
      readable: columns.isReadable(row),
      task: orNull(task),
      rollout: orNull(rollout),
      reward: failure === null ? orNull(columns.reward(row)) : null,
      agent: columns.agent(row) ?? null,
      model: columns.models.name(columns.modelId(row)) ?? null,
      failure,
      lost: failure !== null && isLost(code),
      addressed: this.#run.isAddressed(code),
      masked: columns.masked(row),
      attempt: columns.attempt(row),
      input_tokens: orNull(columns.inputTokens(row)),
      output_tokens: orNull(columns.outputTokens(row)),
      cost: orNull(columns.cost(row)),
      duration_ms: orNull(columns.durationMs(row)),
      turns: orNull(columns.turns(row)),
      tool_calls: orNull(columns.toolCalls(row)),
      tools: columns.toolSets.name(columns.toolSetId(row))?.split("\n") ?? [],
      bytes: columns.bytes(row),
      ...texts,
      ...(await this.#verdict(file, row)),
      annotation: this.#run.annotations.of(task, rollout) ?? null,
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
      // The list is requested again as soon as the file has been read again.
      return { prompt: "", answer: "" };
    }
  }

  /** What the list shows of the verdict of a row, and of its failure. */
  async #verdict(
    file: RolloutFile,
    row: number,
  ): Promise<Pick<ListedRow, "extracted" | "expected" | "message">> {
    const { columns } = file;
    const none = { extracted: null, expected: null, message: null };
    if (!columns.isReadable(row)) return none;
    const input = await this.#run.inputs.of(columns.task(row));
    const expected = input === undefined ? undefined : verdictOf(input).expected;
    if (columns.bytes(row) > MAX_PARSED_BYTES) return { ...none, expected: excerptOrNull(expected?.value) };
    try {
      const value = loads((await file.read(row)).toString("utf8"), { allowNonFinite: true, maxDepth: 1002 });
      const parsed = isObject(value) ? value : {};
      const verdict = verdictOf(parsed);
      return {
        extracted: excerptOrNull(verdict.extracted?.value),
        expected: excerptOrNull((verdict.expected ?? expected)?.value),
        message: excerptOrNull(failureMessage(parsed)),
      };
    } catch (error) {
      // The file was replaced, or the line overwritten; the list is requested again.
      if (error instanceof FileChangedError || error instanceof JsonTextError) return none;
      throw error;
    }
  }

  /**
   * A row as the JSON text of `RowAnswer`, where `row` is the unchanged line, so that the browser sees every digit and
   * key as written. Long values of a large row are truncated; `part` returns them.
   */
  async text({ source, line }: RowRef): Promise<string> {
    const { file, row } = await this.#placeOf({ source, line });
    const { columns } = file;
    const bytes = columns.bytes(row);
    const readable = columns.isReadable(row);
    const buffer = readable ? await this.#withImages(file, row) : await file.read(row, MAX_RAW_BYTES);
    const outline =
      readable && buffer.length > WHOLE_ROW_BYTES
        ? outlineOf(buffer)
        : { text: buffer.toString("utf8"), elided: [] };
    const shallow = readable ? shallowOf(outline.text) : { text: outline.text, tooDeep: [] };
    // A truncated row is not checked against the schema: its values are incomplete, and checking the whole row would
    // take a second.
    const problems = outline.elided.length === 0 ? problemsOf(shallow.text) : [];
    // The line may have been overwritten since it was indexed.
    const isRow = readable && !problems.some((problem) => problem.path === "");
    const [task, rollout] = [columns.task(row), columns.rollout(row)];
    const about = {
      source,
      line,
      path: file.path,
      readable: isRow,
      problems,
      bytes,
      raw: isRow ? null : shallow.text.slice(0, MAX_RAW_BYTES),
      elided: outline.elided,
      too_deep: shallow.tooDeep,
      annotation: this.#run.annotations.of(task, rollout) ?? null,
      attempts: this.#attempts(task, rollout),
    };
    const input = dumps((await this.#run.inputs.of(task)) ?? null);
    return `${JSON.stringify(about).slice(0, -1)},"input":${input},"row":${isRow ? shallow.text : "null"}}`;
  }

  /** A row with its stored images. Where one is missing, the references stay and are shown as names. */
  async #withImages(file: RolloutFile, row: number): Promise<Buffer> {
    const stored = await file.read(row);
    if (!stored.includes(IMAGE_FOLDER)) return stored;
    try {
      return Buffer.from(restoreImages(file.path, stored.toString("utf8")));
    } catch (error) {
      if (error instanceof RolloutFileError && error.code === "ROLLOUT_IMAGE_MISSING") return stored;
      throw error;
    }
  }

  /** The bytes of a row, with its stored images, between two positions. */
  async part(ref: RowRef, from: number, to: number): Promise<Buffer> {
    const { file, row } = await this.#placeOf(ref);
    if (to - from > MAX_PART_BYTES)
      throw new ViewerRequestError(413, `A part is at most ${MAX_PART_BYTES / 1024 / 1024} MB long.`);
    return (await this.#withImages(file, row)).subarray(Math.max(0, from), Math.max(0, to));
  }

  async #placeOf({ source, line }: RowRef): Promise<{ file: RolloutFile; row: number }> {
    await this.#run.readTo({ source, line });
    const file = this.#run[source];
    const rows = file.columns.length;
    if (line < 1 || line > rows)
      throw new ViewerRequestError(
        404,
        `${path.basename(file.path)} has no line ${line}; it has ${rows} (so far).`,
      );
    return { file, row: line - 1 };
  }

  /**
   * Like `text`, for a client that refers to the files of a `generation`. If the files were replaced, the answer is
   * `changed`, and the next status describes the new ones.
   */
  async textOf(generation: number, ref: RowRef): Promise<string> {
    const gone: RowGone = { source: ref.source, line: ref.line, changed: true };
    if (generation !== this.#run.generation) return JSON.stringify(gone);
    try {
      return await this.text(ref);
    } catch (error) {
      if (error instanceof FileChangedError) return JSON.stringify(gone);
      throw error;
    }
  }

  hasRollout(task: number, rollout: number): boolean {
    return this.#attempts(task, rollout).length > 0;
  }

  /** All attempts at a rollout, the completed one last. */
  #attempts(task: number, rollout: number): AttemptEntry[] {
    if (Number.isNaN(task) || Number.isNaN(rollout)) return [];
    const found: AttemptEntry[] = [];
    for (const [source, { columns }] of [
      ["failures", this.#run.failures],
      ["rollouts", this.#run.rollouts],
    ] as const) {
      for (let row = 0; row < columns.length && found.length < MAX_ATTEMPTS; row++) {
        if (columns.task(row) !== task || columns.rollout(row) !== rollout) continue;
        const failure = columns.failure(row) ?? null;
        found.push({
          source,
          line: row + 1,
          attempt: columns.attempt(row),
          failure,
          reward: failure === null ? orNull(columns.reward(row)) : null,
        });
      }
    }
    return found;
  }
}

function excerptOrNull(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return excerptOf(typeof value === "string" ? value : prettyJson(value));
}

function failureMessage(row: JsonObject): unknown {
  const failure = isObject(row["_ng_failure"]) ? row["_ng_failure"] : {};
  return failure["message"] ?? row["_ng_failure_message"] ?? undefined;
}
