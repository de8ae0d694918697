import { JsonTextError, loads, loadsPlain } from "../python/json/json-loads.ts";

/**
 * The JSON of an answer. Endpoints written in Python send `NaN` and `-Infinity` where a token was all but impossible, and some send
 * a byte-order mark; neither makes an answer unreadable. Throws a JsonTextError that says what is wrong and where.
 */
export function parseAnswer(text: string, exactNumbers = false): unknown {
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
