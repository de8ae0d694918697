import { createHash } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { errorMessage, type JsonObject } from "nemo-gym";
import { isProviderError } from "nemo-gym/models";
import { dumps } from "nemo-gym/python";

const VARIABLE = "NEMO_GYM_VLLM_TRANSPORT_LOG";
const SCHEMA_VERSION = 2;

/** Fields that callers may send with their requests, by header. */
const CONTEXT: readonly [field: string, header: string, number: boolean][] = [
  ["run_id", "x-nemo-gym-log-run-id", false],
  ["adapter", "x-nemo-gym-log-adapter", false],
  ["task_id", "x-nemo-gym-log-task-id", false],
  ["domain", "x-nemo-gym-log-domain", false],
  ["task_attempt", "x-nemo-gym-log-task-attempt", true],
  ["step", "x-nemo-gym-log-step", true],
  ["parse_attempt", "x-nemo-gym-log-parse-attempt", true],
];

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A debugging aid: logs requests to and responses from the engine as JSON lines. Headers, and therefore keys, are omitted. */
export class TransportLog {
  readonly #file: string;
  readonly #log: { warn(message: string): void };
  #calls = 0;
  #failed = false;

  constructor(file: string, log: { warn(message: string): void }) {
    this.#file = file;
    this.#log = log;
  }

  /** The log requested by the environment, if any. */
  static fromEnvironment(
    env: NodeJS.ProcessEnv,
    log: { warn(message: string): void },
  ): TransportLog | undefined {
    const file = env[VARIABLE]?.trim();
    return file ? new TransportLog(file, log) : undefined;
  }

  begin(body: JsonObject, baseUrl: string | string[], headers: Headers): TransportRecord {
    const startedNs = nowNs();
    const common = {
      ...contextOf(headers),
      schema_version: SCHEMA_VERSION,
      call_index: ++this.#calls,
      pid: process.pid,
    };
    const compact = dumps(body, { ensureAscii: false, sortKeys: true, separators: [",", ":"] });
    this.#append({
      ...common,
      event: "transport_request",
      timestamp_unix_ns: startedNs,
      configured_base_urls: [baseUrl].flat(),
      request_payload: body,
      request_payload_sha256: sha256(compact),
      embedded_images: imagesIn(body["messages"]),
    });
    const end = (event: JsonObject) => {
      const finishedNs = nowNs();
      this.#append({
        ...common,
        ...event,
        timestamp_unix_ns: finishedNs,
        elapsed_ns: finishedNs - startedNs,
      });
    };
    return {
      answered: (answer) => end({ event: "transport_response", raw_response: answer }),
      failed: (error) => end(failureEvent(error)),
    };
  }

  /** A failed write of the log must not fail a call. */
  #append(event: JsonObject): void {
    try {
      this.#write(event);
    } catch (error) {
      if (!this.#failed) this.#log.warn(`${VARIABLE}: ${errorMessage(error)}`);
      this.#failed = true;
    }
  }

  #write(event: JsonObject): void {
    mkdirSync(dirname(this.#file), { recursive: true });
    const file = openSync(this.#file, "a");
    try {
      writeSync(file, `${dumps(event, { ensureAscii: false, sortKeys: true })}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}

export interface TransportRecord {
  answered(answer: unknown): void;
  failed(error: unknown): void;
}

function failureEvent(error: unknown): JsonObject {
  if (isProviderError(error) && error.providerStatus !== undefined) {
    return {
      event: "transport_error_response",
      http_status: error.providerStatus,
      raw_response_body: error.body,
      error: error.message,
    };
  }
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return { event: "transport_error", error_type: name, error: message };
}

/** Nanoseconds do not fit into a double exactly, so this is microseconds followed by three zeros. */
function nowNs(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000) * 1000;
}

function contextOf(headers: Headers): JsonObject {
  const context: JsonObject = {};
  for (const [field, header, isNumber] of CONTEXT) {
    const value = headers[header];
    if (typeof value !== "string" || value === "") continue;
    if (!isNumber) context[field] = value;
    else if (/^[+-]?\d+$/.test(value.trim())) context[field] = Number(value);
  }
  return context;
}

function imagesIn(messages: unknown): JsonObject[] {
  const images: JsonObject[] = [];
  for (const [messageIndex, message] of (Array.isArray(messages) ? messages : []).entries()) {
    const { content } = message as { content?: unknown };
    for (const [partIndex, part] of (Array.isArray(content) ? content : []).entries()) {
      const { type, image_url: image } = part as { type?: unknown; image_url?: { url?: unknown } | string };
      const url = typeof image === "object" ? image?.url : image;
      if (type !== "image_url" || typeof url !== "string") continue;
      const encoded = url.startsWith("data:") && url.includes(",") ? url.slice(url.indexOf(",") + 1) : "";
      const decoded = Buffer.from(encoded, "base64");
      images.push({
        message_index: messageIndex,
        part_index: partIndex,
        data_url_chars: url.length,
        encoded_sha256: sha256(encoded),
        decoded_bytes: decoded.length,
        decoded_sha256: sha256(decoded),
      });
    }
  }
  return images;
}

function sha256(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
