import { parseJson, silentLogger } from "../../../base/door.ts";
import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import {
  assembleStream,
  type Dialect,
  decodeSse,
  parseData,
  SseDecoder,
  type StreamOutcome,
  terminalOutcome,
} from "../../../wire/stream/door.ts";
import { Reply } from "../../calls/server-call.ts";
import {
  categoryOfError,
  categoryOfStatus,
  categoryOfStream,
  type ErrorCategory,
} from "../../capture/error-category.ts";
import type { ModelCallLine, ModelCallLog } from "../../capture/model-call-log.ts";
import type { Handler, RouteCall } from "../app.ts";
import { MalformedBody } from "../body.ts";
import { mapError } from "../error-mapper.ts";

type NamedCall = RouteCall & { rolloutId: string; modelCallId: string };

interface ObservedRoute {
  dialect: Dialect;
  server: string;
  log: ModelCallLog;
}

/** Serves one call and records it, without changing the response. */
export async function serveObserved(
  handler: Handler,
  call: NamedCall,
  route: ObservedRoute,
): Promise<unknown> {
  const observation = new Observation(call, route);
  let result: unknown;
  try {
    result = await handler(call);
  } catch (error) {
    await observation.failed(error);
    throw error;
  }
  if (!(result instanceof Reply)) {
    await observation.answered(200, result);
    return result;
  }
  if (result.stream === undefined) {
    await observation.answered(result.status, result.raw ?? result.body);
    return result;
  }
  const { status, headers } = result;
  const stream = holdLastEvent(result.stream, route.dialect, (end) => observation.streamed(status, end));
  return new Reply({ status, stream, headers });
}

class Observation {
  readonly #call: NamedCall;
  readonly #route: ObservedRoute;
  readonly #startedAt = Date.now() / 1000;
  readonly #clock = performance.now();

  constructor(call: NamedCall, route: ObservedRoute) {
    this.#call = call;
    this.#route = route;
  }

  /** `body` is the value, or its JSON text. */
  answered(status: number, body: unknown): Promise<void> {
    return this.#record(() => {
      const { response, raw } = readBody(body);
      const unread = response === null && raw !== undefined;
      return {
        status_code: status,
        error_category: categoryOfStatus(status) ?? (unread ? "capture_parse_error" : null),
        response,
        ...(unread && { response_raw: raw }),
      };
    });
  }

  streamed(status: number, end: StreamEnd): Promise<void> {
    return this.#record(() => {
      const response = assembled(this.#route.dialect, end.text);
      return {
        status_code: status,
        error_category: streamCategory(status, end, response),
        response,
        ...(end.text !== "" && { response_raw: end.text }),
      };
    }, end.firstFrameAt ?? null);
  }

  failed(error: unknown): Promise<void> {
    return this.#record(() => {
      const { path, signal } = this.#call;
      const { server } = this.#route;
      const type = "responses_api_models";
      const reply = mapError(error, { server, type, path, signal, log: silentLogger });
      // An unexpected exception is answered with its text; only expected errors choose their status.
      const foreseen = typeof reply.body !== "string";
      const { response, raw } = readBody(reply.body);
      return {
        status_code: reply.status,
        error_category: categoryOfError(error, foreseen ? reply.status : undefined),
        response,
        ...(response === null && raw !== undefined && { response_raw: raw }),
      };
    });
  }

  /** The line is built only when it is written, where an exception is caught. */
  #record(
    outcome: () => Pick<ModelCallLine, "status_code" | "error_category" | "response" | "response_raw">,
    firstByteAt: number | null = performance.now(),
  ): Promise<void> {
    const { modelCallId, rolloutId, body } = this.#call;
    const { dialect, server, log } = this.#route;
    const latency = milliseconds(performance.now() - this.#clock);
    const completedAt = Date.now() / 1000;
    return log.record(rolloutId, () => {
      const { response, response_raw, ...result } = outcome();
      const { request, raw } = readRequest(body);
      return {
        model_call_id: modelCallId,
        dialect,
        model_ref: { type: "responses_api_models", name: server },
        started_at: this.#startedAt,
        completed_at: completedAt,
        latency_ms: latency,
        latency_ttft_ms: firstByteAt === null ? null : milliseconds(firstByteAt - this.#clock),
        ...result,
        request,
        response,
        ...(raw !== undefined && { request_raw: raw }),
        ...(response_raw !== undefined && { response_raw }),
      };
    });
  }
}

const milliseconds = (value: number): number => Math.round(value * 100) / 100;

function streamCategory(status: number, end: StreamEnd, response: JsonObject | null): ErrorCategory | null {
  if (end.failure) return categoryOfError(end.failure.error, undefined);
  const category = categoryOfStatus(status) ?? categoryOfStream(end.outcome);
  return category ?? (response === null && end.text !== "" ? "capture_parse_error" : null);
}

function assembled(dialect: Dialect, text: string): JsonObject | null {
  try {
    return assembleStream(dialect, decodeSse(text));
  } catch {
    // The text is kept; the category shows that it could not be parsed.
    return null;
  }
}

function readRequest(body: unknown): { request: JsonObject | null; raw?: string } {
  if (body instanceof MalformedBody) return { request: null, raw: body.text };
  if (isObject(body)) return { request: body };
  return { request: null, raw: JSON.stringify(body) };
}

function readBody(body: unknown): { response: JsonObject | null; raw?: string } {
  if (isObject(body)) return { response: body };
  if (typeof body !== "string") return { response: null, raw: JSON.stringify(body) };
  const value = parseJson(body);
  return isObject(value) ? { response: value } : { response: null, raw: body };
}

/** The state of a stream that has ended, successfully or not. */
export interface StreamEnd {
  text: string;
  /** The outcome that the stream reported; undefined when it was interrupted. */
  outcome: StreamOutcome | undefined;
  /** When the first frame arrived, as `performance.now()`. */
  firstFrameAt: number | undefined;
  /** The error that the stream threw. */
  failure: { error: unknown } | undefined;
}

/**
 * Forwards the frames of a stream, but holds its last event until `finish` is done, so that a client that has received
 * the end can rely on what `finish` wrote.
 */
export async function* holdLastEvent(
  frames: AsyncIterable<string>,
  dialect: Dialect,
  finish: (end: StreamEnd) => Promise<void>,
): AsyncGenerator<string> {
  const end: StreamEnd = { text: "", outcome: undefined, firstFrameAt: undefined, failure: undefined };
  const outcomeOf = terminalWatch(dialect);
  const held: string[] = [];
  try {
    for await (const frame of frames) {
      end.firstFrameAt ??= performance.now();
      end.text += frame;
      end.outcome ??= outcomeOf(frame);
      if (end.outcome === undefined) yield frame;
      else held.push(frame);
    }
  } catch (error) {
    end.failure = { error };
  } finally {
    // Also reached when the client disconnects.
    await finish(end);
  }
  yield* held;
  if (end.failure) throw end.failure.error;
}

/** Returns a function that detects the event that ends a stream; a stream that cannot be parsed has none. */
function terminalWatch(dialect: Dialect): (frame: string) => StreamOutcome | undefined {
  let decoder: SseDecoder | undefined = new SseDecoder();
  return (frame) => {
    try {
      for (const { event, data } of decoder?.push(frame) ?? []) {
        const outcome = terminalOutcome(dialect, { event, data: parseData(data) });
        if (outcome !== undefined) return outcome;
      }
    } catch {
      decoder = undefined;
    }
    return undefined;
  };
}
