import { errorMessage } from "../errors.ts";
import { parseJson } from "../parse-json.ts";
import { redactKnown } from "../secrets.ts";
import { HttpClient } from "../transport/door.ts";
import { nextDelay, type RetryBudget, retryAfterMs, sleep } from "../transport/light-door.ts";
import { encodeRequest } from "./protobuf.ts";
import type { TelemetrySettings } from "./settings.ts";

const CONNECT_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_MS = 15_000;
/** A receiver answers with an almost empty message. */
const MAX_ANSWER_BYTES = 64 * 1024;
const RETRY: RetryBudget = { attempts: 5, wallClockMs: 60_000, baseDelayMs: 1_000, maxDelayMs: 30_000 };
/** The statuses after which the specification of OTLP allows another attempt. */
const RETRYABLE = new Set([429, 502, 503, 504]);
const MAX_QUOTED = 200;

export type Signal = "traces" | "metrics";

/** Sends requests to a receiver. `send` rejects when a request was given up. */
export interface Exporter {
  send(signal: Signal, request: Readonly<Record<string, unknown>>, stop: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export function createExporter(settings: TelemetrySettings, write: (line: string) => void): Exporter {
  if (settings.exporter === "otlp") return new OtlpExporter(settings);
  return {
    send: async (_signal, request) => write(`${JSON.stringify(request)}\n`),
    close: async () => {},
  };
}

/** Sends OTLP over HTTP. */
class OtlpExporter implements Exporter {
  readonly #settings: TelemetrySettings;
  readonly #http = new HttpClient({
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    keepAliveMs: KEEP_ALIVE_MS,
    maxConnections: 2,
    proxy: true,
  });

  constructor(settings: TelemetrySettings) {
    this.#settings = settings;
  }

  async send(signal: Signal, request: Readonly<Record<string, unknown>>, stop: AbortSignal): Promise<void> {
    const body = this.#settings.protocol === "http/json" ? JSON.stringify(request) : encodeRequest(request);
    const startedAt = performance.now();
    for (let attempt = 1; ; attempt++) {
      const failed = await this.#post(signal, body, stop);
      if (failed === undefined) return;
      const elapsedMs = performance.now() - startedAt;
      const delay = failed.retryable
        ? nextDelay(RETRY, { attempt, elapsedMs, retryAfterMs: failed.retryAfterMs })
        : undefined;
      if (delay === undefined) throw new Error(failed.message);
      await sleep(delay, stop);
    }
  }

  /** Sends a request once. Undefined if the receiver has accepted it. */
  async #post(
    signal: Signal,
    body: string | Buffer,
    stop: AbortSignal,
  ): Promise<{ message: string; retryable: boolean; retryAfterMs?: number } | undefined> {
    const { tracesUrl, metricsUrl, headers, timeoutMs, protocol } = this.#settings;
    const url = signal === "traces" ? tracesUrl : metricsUrl;
    const type = protocol === "http/json" ? "application/json" : "application/x-protobuf";
    try {
      const {
        status,
        headers: given,
        text,
      } = await this.#http.request(url.origin, {
        method: "POST",
        path: url.pathname + url.search,
        headers: { "user-agent": "nemo-gym", ...headers, "content-type": type },
        body,
        signal: stop,
        timeoutMs,
        maxBytes: MAX_ANSWER_BYTES,
        resendable: true,
      });
      if (status >= 200 && status < 300) return rejection(text, url);
      const quoted = redactKnown(text.slice(0, MAX_QUOTED)).replace(/[^ -~]+/g, " ");
      return {
        message: `${url.host} answered ${status}: ${quoted}`,
        retryable: RETRYABLE.has(status),
        retryAfterMs: retryAfterMs(given["retry-after"]),
      };
    } catch (error) {
      stop.throwIfAborted();
      return { message: `${url.host}: ${errorMessage(error)}`, retryable: true };
    }
  }

  close(): Promise<void> {
    return this.#http.close();
  }
}

/** What a receiver that answers in JSON says about spans or points that it did not take. */
function rejection(text: string, url: URL): { message: string; retryable: false } | undefined {
  const body = parseJson(text) as { partialSuccess?: Record<string, unknown> } | undefined;
  const partial = body?.partialSuccess;
  const count = Number(partial?.["rejectedSpans"] ?? partial?.["rejectedDataPoints"] ?? 0);
  if (!(count > 0)) return undefined;
  const reason = String(partial?.["errorMessage"] ?? "").slice(0, MAX_QUOTED);
  return { message: `${url.host} rejected ${count} items: ${redactKnown(reason)}`, retryable: false };
}
