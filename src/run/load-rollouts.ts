import path from "node:path";
import type { JsonObject } from "../python/json/json-object.ts";
import { readRows } from "../rollouts/files/jsonl-rows.ts";

/** One row of a rollouts file: the input row, the model's response and the fields that the verifier reported. */
export interface Rollout extends JsonObject {
  _ng_task_index: number;
  _ng_rollout_index: number;
  reward?: number;
}

export interface LoadOptions {
  signal?: AbortSignal;
}

/**
 * Reads a rollouts file row by row. Skips a last line that was cut off during a write.
 *
 * @example
 * for await (const { reward } of loadRollouts("results/run.jsonl")) console.log(reward);
 */
export async function* loadRollouts(file: string, options: LoadOptions = {}): AsyncGenerator<Rollout> {
  const reading = { ...options, onTornLine: () => {} };
  for await (const { row } of readRows(path.resolve(file), reading)) yield row as Rollout;
}
