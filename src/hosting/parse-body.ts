import { errorMessage } from "../errors.ts";
import { type JsonTextError, loadsPlain } from "../python/json/json-loads.ts";
import { MalformedBody } from "./app.ts";

const MAX_QUOTED = 200;

/** The body of a request: undefined when there is none, a `MalformedBody` when it is not JSON. */
export function parseBody(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return parseAsPython(text);
  }
}

/** Python clients write NaN and Infinity as bare words. Text that Python does not accept either is refused with its position. */
function parseAsPython(text: string): unknown {
  try {
    return loadsPlain(text, { allowNonFinite: true });
  } catch (error) {
    const { position = 0 } = error as Partial<JsonTextError>;
    const ctx = { error: errorMessage(error).slice(0, MAX_QUOTED) };
    const detail = {
      type: "json_invalid",
      loc: ["body", position],
      msg: "JSON decode error",
      input: {},
      ctx,
    };
    return new MalformedBody(text, detail);
  }
}
