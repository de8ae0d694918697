import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../base/door.ts";
import { errorMessage } from "../../base/errors.ts";
import { appendDurably } from "../../base/files/door.ts";
import type { JsonObject } from "../../base/python/json/door.ts";
import type { Dialect } from "../../wire/stream/door.ts";
import type { ErrorCategory } from "./error-category.ts";
import { withinLimit } from "./limits.ts";

/** One line of `<id>.capture.jsonl`: a model call as it was sent and received. */
export interface ModelCallLine {
  model_call_id: string;
  dialect: Dialect;
  model_ref: { type: "responses_api_models"; name: string };
  /** Seconds since 1970. */
  started_at: number;
  completed_at: number;
  latency_ms: number;
  latency_ttft_ms: number | null;
  status_code: number | null;
  error_category: ErrorCategory | null;
  request: JsonObject | null;
  response: JsonObject | null;
  /** The body, if it was not a JSON object. */
  request_raw?: string;
  /** The body, if it was not a JSON object or was a stream. */
  response_raw?: string;
}

/** Files of one rollout in the directory of model calls. */
export function modelCallFiles(directory: string, rolloutId: string) {
  return {
    records: join(directory, `${rolloutId}.capture.jsonl`),
    /** An empty file that exists if a record could not be written. */
    incomplete: join(directory, `${rolloutId}.capture.incomplete`),
  };
}

/** Removes the model calls that an earlier run recorded under this id. */
export async function clearModelCalls(directory: string, rolloutId: string): Promise<void> {
  const { records, incomplete } = modelCallFiles(directory, rolloutId);
  await Promise.all([rm(records, { force: true }), rm(incomplete, { force: true })]);
}

/** Writes model calls to the files of their rollouts. A failure to write does not fail the call. */
export class ModelCallLog {
  readonly #directory: string;
  readonly #redact: (text: string) => string;
  readonly #log: Logger;

  constructor(directory: string, options: { redact: (text: string) => string; log: Logger }) {
    this.#directory = directory;
    this.#redact = options.redact;
    this.#log = options.log;
  }

  /** Resolves when the line is on the device, or when the rollout is marked as incomplete. */
  async record(rolloutId: string, line: () => ModelCallLine): Promise<void> {
    const files = modelCallFiles(this.#directory, rolloutId);
    try {
      await withinLimit(appendDurably(files.records, this.#redact(JSON.stringify(line()))));
    } catch (error) {
      this.#log.warn(`a model call of rollout ${rolloutId} was not recorded: ${errorMessage(error)}`);
      await withinLimit(writeFile(files.incomplete, "", { flag: "a" })).catch((again: unknown) =>
        this.#log.warn(`rollout ${rolloutId} cannot be marked as incomplete: ${errorMessage(again)}`),
      );
    }
  }
}
