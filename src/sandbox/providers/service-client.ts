import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Dispatcher, request } from "undici";
import { parseJson } from "../../base/door.ts";
import { errorMessage } from "../../base/errors.ts";
import { redactor } from "../../base/secrets.ts";
import {
  Deadline,
  nextDelay,
  type RetryBudget,
  retryAfterMs,
  sleep,
} from "../../base/transport/light-door.ts";
import { SandboxOperationError, SandboxTransferError } from "../errors.ts";

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_CHARACTERS = 2000;
const MAX_FILE_BYTES = 4 * 1024 ** 3;
/** Status codes of failures that a retry may solve. */
const RETRYABLE = new Set([408, 425, 429, 500, 502, 503, 504]);

export interface ServiceRequest {
  method: "GET" | "POST" | "DELETE";
  url: string;
  headers?: Readonly<Record<string, string>>;
  json?: unknown;
  body?: () => Readable | string;
  timeoutMs: number;
  /** Absent: one attempt. */
  retries?: RetryBudget;
  signal?: AbortSignal;
}

/** A service answered with an error, or did not answer (status undefined). */
export class ServiceError extends SandboxOperationError {
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: { status?: number; retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause: details.cause });
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** Calls the HTTP interface of a sandbox service. The key of the service never appears in a message. */
export class ServiceClient {
  readonly #headers: Readonly<Record<string, string>>;
  readonly #redact: (text: string) => string;

  constructor(headers: Readonly<Record<string, string>>, secrets: readonly (string | undefined)[]) {
    this.#headers = headers;
    this.#redact = redactor(secrets);
  }

  /** Sends JSON and reads JSON; undefined for an empty answer. */
  async json(ask: ServiceRequest): Promise<unknown> {
    const text = await this.#withRetries(ask, async (signal) => {
      const answer = await this.#send(ask, signal);
      return readText(answer.body, MAX_ANSWER_BYTES);
    });
    if (text.trim() === "") return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      throw new ServiceError(`${new URL(ask.url).host} did not answer with JSON; is the address right?`, {
        cause: error,
      });
    }
  }

  /** Reads an answer line by line as it arrives. */
  async lines(ask: ServiceRequest, onLine: (line: string) => void): Promise<void> {
    await this.#withRetries(ask, async (signal) => {
      const answer = await this.#send(ask, signal);
      let rest = "";
      for await (const chunk of answer.body.setEncoding("utf8")) {
        const parts = (rest + String(chunk)).split("\n");
        rest = parts.pop() ?? "";
        if (rest.length > MAX_ANSWER_BYTES)
          throw new ServiceError("The service sent a line that is too long.");
        for (const part of parts) onLine(part);
      }
      if (rest !== "") onLine(rest);
    });
  }

  /** Sends a form with a file, after the given parts. */
  async upload(
    ask: Omit<ServiceRequest, "method" | "body" | "json">,
    file: string,
    parts: readonly { name: string; type: string; text: string }[],
  ): Promise<void> {
    const { size } = await stat(file);
    const boundary = `nemo-gym-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
    const before = [
      ...parts.map(
        ({ name, type, text }) =>
          `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n${text}\r\n`,
      ),
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="file"\r\nContent-Type: application/octet-stream\r\n\r\n`,
    ].join("");
    const after = `\r\n--${boundary}--\r\n`;
    await this.json({
      ...ask,
      method: "POST",
      headers: {
        ...ask.headers,
        "content-type": `multipart/form-data; boundary=${boundary}`,
        "content-length": String(Buffer.byteLength(before) + size + Buffer.byteLength(after)),
      },
      body: () =>
        Readable.from(
          (async function* () {
            yield Buffer.from(before);
            yield* createReadStream(file);
            yield Buffer.from(after);
          })(),
        ),
    });
  }

  /** Writes an answer to a file. */
  async download(ask: ServiceRequest, target: string): Promise<void> {
    await mkdir(path.dirname(path.resolve(target)), { recursive: true });
    try {
      await this.#withRetries(ask, async (signal) => {
        const answer = await this.#send(ask, signal);
        let size = 0;
        answer.body.on("data", (chunk: Buffer) => {
          size += chunk.length;
          if (size > MAX_FILE_BYTES)
            answer.body.destroy(new SandboxTransferError("The file is larger than allowed."));
        });
        await pipeline(answer.body, createWriteStream(target), { signal });
      });
    } catch (error) {
      await rm(target, { force: true });
      throw error;
    }
  }

  async #withRetries<T>(ask: ServiceRequest, attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    for (let tries = 1; ; tries += 1) {
      const deadline = new Deadline(ask.timeoutMs, ask.signal);
      try {
        return await attempt(deadline.signal);
      } catch (error) {
        ask.signal?.throwIfAborted();
        const failure = this.#failure(ask, error, deadline.passed);
        const isRetryable = failure.status === undefined || RETRYABLE.has(failure.status);
        const delay =
          ask.retries && isRetryable
            ? nextDelay(ask.retries, {
                attempt: tries,
                elapsedMs: performance.now() - startedAt,
                retryAfterMs: failure.retryAfterMs,
              })
            : undefined;
        if (delay === undefined) throw failure;
        await sleep(delay, ask.signal);
      } finally {
        deadline.clear();
      }
    }
  }

  async #send(ask: ServiceRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const answer = await request(ask.url, {
      method: ask.method,
      headers: {
        ...this.#headers,
        ...(ask.json !== undefined && { "content-type": "application/json" }),
        ...ask.headers,
      },
      body: ask.body?.() ?? (ask.json === undefined ? null : JSON.stringify(ask.json)),
      signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    if (answer.statusCode < 300) return answer;
    const text = await readText(answer.body, MAX_ANSWER_BYTES);
    throw new ServiceError(
      this.#redact(`${answer.statusCode} from ${new URL(ask.url).host}: ${messageIn(text)}`),
      { status: answer.statusCode, retryAfterMs: retryAfterMs(answer.headers["retry-after"]) },
    );
  }

  #failure(ask: ServiceRequest, error: unknown, timedOut: boolean): ServiceError {
    if (error instanceof ServiceError) return error;
    const { host } = new URL(ask.url);
    if (timedOut)
      return new ServiceError(`${host} did not answer within ${ask.timeoutMs / 1000} s.`, {
        status: 408,
        cause: error,
      });
    return new ServiceError(this.#redact(`${host} cannot be reached: ${errorMessage(error)}`), {
      cause: error,
    });
  }
}

async function readText(body: Readable, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += (chunk as Buffer).length;
    if (size > limit) throw new ServiceError(`The service sent more than ${limit} bytes.`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The message of an error body; services use different keys for it. */
function messageIn(text: string): string {
  const { message, error, detail } = (parseJson(text) ?? {}) as Record<string, unknown>;
  const found = [message, error, detail].find((value) => typeof value === "string") ?? text.trim();
  return String(found).slice(0, MAX_ERROR_CHARACTERS) || "(no message)";
}
