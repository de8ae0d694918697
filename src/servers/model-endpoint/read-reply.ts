import { isObject, JsonTextError, loads, loadsPlain } from "../../base/python/json/door.ts";
import type { HttpAnswer } from "../../base/transport/door.ts";
import { ConversionError, numericCounts } from "../../wire/convert/door.ts";
import { ValidationError } from "../../wire/schemas/door.ts";
import type { ProviderCall } from "./provider-call.ts";
import { failureOfReply, hiddenError, invalidResponse, redirect } from "./read-failure.ts";

/** Statuses of an unknown path. */
const MISPLACED: ReadonlySet<number> = new Set([404, 405, 410, 501]);

/** Reads the result and the usage of a call from the reply of an endpoint. Throws a ProviderError if there is none. */
export function readReply<T>(
  reply: HttpAnswer,
  call: ProviderCall<T>,
  { host, path, redact }: { host: string; path: string; redact: (text: string) => string },
): { value: T; usage: unknown } {
  // An unknown path usually means a wrong base URL, so the message shows the path.
  const address = MISPLACED.has(reply.status) ? host + path : host;
  if (reply.status >= 400) throw failureOfReply(reply, address, redact);
  if (reply.status >= 300) throw redirect(reply, host + path, redact);
  let parsed: unknown;
  try {
    parsed = parseReplyJson(reply.text, call.exactNumbers);
  } catch (error) {
    throw invalidResponse(reply, host, jsonProblem(error), redact);
  }
  const hidden = hiddenError(reply, parsed);
  if (hidden) throw failureOfReply(hidden, host, redact);
  try {
    const usage = isObject(parsed) ? numericCounts(parsed["usage"]) : undefined;
    return { value: call.read(parsed, reply), usage };
  } catch (error) {
    if (!(error instanceof ValidationError || error instanceof ConversionError)) throw error;
    const problem = `the body does not fit (${error.message})`;
    throw invalidResponse(reply, host, problem, redact, !isUnknownForm(error));
  }
}

/** An unknown item type depends on the request, so another paid response would have it too. */
function isUnknownForm(error: ValidationError | ConversionError): boolean {
  return error instanceof ConversionError
    ? error.failure === "unsupported"
    : error.detail.some(({ type }) => type.startsWith("union_tag_"));
}

/**
 * Parses the JSON of an answer. Endpoints written in Python send `NaN` and `-Infinity` for nearly impossible tokens,
 * and some send a byte-order mark; both are accepted. Throws a JsonTextError with the problem and its position.
 */
export function parseReplyJson(text: string, exactNumbers = false): unknown {
  const body = text.startsWith("\uFEFF") ? text.slice(1) : text;
  if (exactNumbers) return loads(body, { allowNonFinite: true });
  try {
    return JSON.parse(body);
  } catch {
    return loadsPlain(body, { allowNonFinite: true });
  }
}

/** The reader's description of text that is not JSON, for a message. */
export function jsonProblem(error: unknown): string {
  return error instanceof JsonTextError && error.position > 0
    ? `the body is not JSON (${error.message})`
    : "the body is not JSON";
}
