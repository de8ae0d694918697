import { setImmediate as yieldToLoop } from "node:timers/promises";
import { isObject, type JsonObject, JsonTextError, loads, orderedKeys } from "../../base/python/json/door.ts";
import { openRunFile, type RunFileHandle, statRunFile } from "../../records/door.ts";
import { readBlocks } from "../index/blocks.ts";
import { SkimError } from "../index/json-skimmer.ts";
import { RowSkim } from "../index/row-skim.ts";

/** Inputs above these sizes are not joined with the rollouts: their positions would have to be kept in memory. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_INPUT_BYTES = 512 * 1024;
const OF_THE_REQUEST = new Set(["responses_create_params", "agent_ref", "skills_ref"]);

/** The rows that a run was started with, by task. They hold what a verifier expects, which results need not repeat. */
export class InputsByTask {
  readonly #path: string;
  #seen = "";
  #places = new Map<number, { offset: number; length: number }>();
  #reading: Promise<void> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** The fields of a task's row, without the request for the model; undefined if they are not known. */
  async of(task: number | null): Promise<JsonObject | undefined> {
    if (task === null || Number.isNaN(task)) return undefined;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
    const place = this.#places.get(task);
    if (place === undefined || place.length > MAX_INPUT_BYTES) return undefined;
    const handle = await openRunFile(this.#path).catch(() => undefined);
    if (handle === undefined) return undefined;
    try {
      const buffer = Buffer.allocUnsafe(place.length);
      const { bytesRead } = await handle.read(buffer, 0, place.length, place.offset);
      const row =
        bytesRead === place.length ? loads(buffer.toString("utf8"), { allowNonFinite: true }) : undefined;
      return isObject(row) && Number(row["_ng_task_index"]) === task ? ownFields(row) : undefined;
    } catch (error) {
      // The file may have been replaced since its rows were found.
      if (error instanceof JsonTextError) return undefined;
      throw error;
    } finally {
      await handle.close();
    }
  }

  async #read(): Promise<void> {
    const entry = await statRunFile(this.#path).catch(() => undefined);
    const seen = entry === undefined ? "" : `${entry.identity}:${entry.size}:${entry.mtimeMs}`;
    if (seen === this.#seen) return;
    this.#seen = seen;
    this.#places = new Map();
    if (entry === undefined || entry.size > MAX_FILE_BYTES) return;
    const handle = await openRunFile(this.#path);
    try {
      await this.#find(handle);
    } finally {
      await handle.close();
    }
  }

  /** The first row of each task: its repeats have the same fields. */
  async #find(handle: RunFileHandle): Promise<void> {
    const skim = new RowSkim();
    for await (const { bytes, lines } of readBlocks(handle, 0)) {
      for (const { from, to, offset } of lines) {
        try {
          const { task } = skim.read(bytes, from, to);
          if (task !== undefined && !this.#places.has(task))
            this.#places.set(task, { offset, length: to - from });
        } catch (error) {
          if (!(error instanceof SkimError)) throw error;
        }
      }
      await yieldToLoop();
    }
  }
}

function ownFields(row: JsonObject): JsonObject {
  const fields: JsonObject = {};
  for (const key of orderedKeys(row))
    if (!OF_THE_REQUEST.has(key) && !key.startsWith("_ng_")) fields[key] = row[key];
  return fields;
}
