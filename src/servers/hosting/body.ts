import type { z } from "zod";
import { HttpError } from "../../base/door.ts";
import { errorMessage } from "../../base/errors.ts";
import { failure } from "../../base/failures.ts";
import { isObject, type JsonObject, type JsonTextError, loadsPlain } from "../../base/python/json/door.ts";
import { resultJson } from "../../wire/door.ts";
import { type ErrorDetail, ValidationError, zodDetail } from "../../wire/schemas/door.ts";
import { encodeSse, type SseEvent } from "../../wire/stream/door.ts";
import type { Cookies } from "../calls/cookies.ts";
import { Reply } from "../calls/server-call.ts";

const MAX_QUOTED = 200;

/** A body that is not JSON, and the error for the caller. */
export class MalformedBody {
  readonly text: string;
  readonly detail: ErrorDetail;

  constructor(text: string, detail: ErrorDetail) {
    this.text = text;
    this.detail = detail;
  }
}

/** The body of a request: undefined without one, a `MalformedBody` when it is not JSON. */
export function parseBody(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return parseAsPython(text);
  }
}

/**
 * Python clients write NaN and Infinity as bare words. Text that Python does not accept either is rejected with its
 * position.
 */
function parseAsPython(text: string): unknown {
  try {
    return loadsPlain(text, { allowNonFinite: true });
  } catch (error) {
    const { position = 0 } = error as Partial<JsonTextError>;
    const ctx = { error: errorMessage(error).slice(0, MAX_QUOTED) };
    const loc = ["body", position];
    return new MalformedBody(text, { type: "json_invalid", loc, msg: "JSON decode error", input: {}, ctx });
  }
}

/** Deeper values are rejected: writing them as JSON would overflow the stack. */
export const MAX_NESTING = 1_000;

/** Whether a JSON value has more levels than can safely be serialized. Checks level by level, without recursion. */
export function isTooDeep(value: unknown): boolean {
  let level = containersIn([value]);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= MAX_NESTING) return true;
    level = level.flatMap((container) => containersIn(Object.values(container)));
  }
  return false;
}

function containersIn(values: readonly unknown[]): object[] {
  return values.filter((value): value is object => typeof value === "object" && value !== null);
}

/** Maximum size of a response. Callers have the same limit, so a larger response fails here. */
export const MAX_REPLY_BYTES = 256 * 1024 * 1024;

/** The body of a response as text. */
export function replyText({ raw, body }: Reply): string {
  return raw ?? resultJson(body ?? null);
}

/** Rejects a body that is larger than any caller reads. */
export function requireReplySize(text: string, path: string): void {
  if (text.length < MAX_REPLY_BYTES / 3) return;
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_REPLY_BYTES) return;
  const megabytes = (count: number) => Math.ceil(count / (1024 * 1024));
  const message = `the response of ${path} has ${megabytes(bytes)} MB; at most ${megabytes(MAX_REPLY_BYTES)} MB are sent`;
  throw new HttpError(500, message, { failure: failure("invalid_response", message, { retryable: false }) });
}

/** The text of a response that may be a stream, which is read to its end. */
export async function streamedText(reply: Reply): Promise<string> {
  if (!reply.stream) return replyText(reply);
  let text = "";
  for await (const frame of reply.stream) text += frame;
  return text;
}

/** An answer as server-sent events. */
export function eventStream(events: Iterable<SseEvent> | AsyncIterable<SseEvent>, cookies?: Cookies): Reply {
  async function* frames(): AsyncGenerator<string> {
    for await (const event of events) yield encodeSse(event);
  }
  return new Reply({ stream: frames(), cookies });
}

/** Parses with a definition's schema. An invalid value becomes a 422 that names the field. */
export function parseWith(
  schema: z.ZodType | undefined,
  value: unknown,
  at: readonly (string | number)[],
): unknown {
  if (!schema) return value;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new ValidationError(zodDetail(result.error, at, value), { cause: result.error });
}

export function requireBody(body: unknown): unknown {
  if (body === undefined) {
    throw new ValidationError([{ type: "missing", loc: ["body"], msg: "Field required", input: null }]);
  }
  return body;
}

export function requireObject(body: unknown): JsonObject {
  const input = requireBody(body);
  if (isObject(input)) return input;
  const msg = "Input should be a valid dictionary";
  throw new ValidationError([{ type: "model_attributes_type", loc: ["body"], msg, input }]);
}

/** Requires fields of a body. The error names all missing ones. */
export function requireFields(body: JsonObject, ...fields: readonly string[]): void {
  if (fields.every((field) => body[field] !== undefined)) return;
  const missing = fields.filter((field) => body[field] === undefined);
  throw missingFields(missing, body);
}

export function missingFields(fields: readonly string[], input: unknown): ValidationError {
  return new ValidationError(
    fields.map((field) => ({ type: "missing", loc: ["body", field], msg: "Field required", input })),
  );
}
