import { isObject, isTruthy, JsonTextError, loads, SPACE_CLASS, strip } from "nemo-gym/python";

/** A call of an image tool that the model wrote as text. */
export interface TextCall {
  name: unknown;
  arguments: unknown;
}

const OPEN = "<tool_call>";
const space = `[${SPACE_CLASS}]*`;
const functionOpening = new RegExp(`^${space}<function=([^>${SPACE_CLASS}]+)>`, "u");
const functionClosing = new RegExp(`</function>${space}</tool_call>`, "gu");
const objectOpening = new RegExp(`^${space}(?=\\{)`, "u");
const objectClosing = new RegExp(`(?<=\\})${space}</tool_call>`, "gu");
/** The `>` is optional, so that a name without it is read only once. */
const parameterOpening = new RegExp(`<parameter=([^>${SPACE_CLASS}]+)(>?)`, "gu");
const headEnd = /[>{]/g;
const PARAMETER_END = "</parameter>";

/** All calls of a text: first those in the XML form, then those in the JSON form. */
export function readToolCalls(text: string): TextCall[] {
  const xml = elements(text, functionOpening, functionClosing);
  const json = elements(text, objectOpening, objectClosing);
  return [
    ...xml.map(([name, body]) => ({ name, arguments: readParameters(body) })),
    ...json.flatMap(readObject),
  ];
}

/** The contents of `<tool_call>` elements with these ends, each with the group of its opening. */
function elements(text: string, opening: RegExp, closing: RegExp): [group: string, body: string][] {
  const found: [string, string][] = [];
  let at = text.indexOf(OPEN);
  while (at >= 0) {
    let next = at + OPEN.length;
    const head = opening.exec(text.slice(next, endOfHead(text, next)));
    if (head) {
      const start = next + head[0].length;
      closing.lastIndex = start;
      const end = closing.exec(text);
      // Later elements have no end either.
      if (!end) break;
      found.push([head[1] ?? "", text.slice(start, end.index)]);
      next = closing.lastIndex;
    }
    at = text.indexOf(OPEN, next);
  }
  return found;
}

/** Both openings are over at the first `>` or `{`. */
function endOfHead(text: string, from: number): number {
  headEnd.lastIndex = from;
  return headEnd.test(text) ? headEnd.lastIndex : text.length;
}

function readParameters(body: string): Record<string, unknown> {
  const found = new Map<string, unknown>();
  let from = 0;
  for (const { 0: tag, 1: name = "", 2: bracket, index } of body.matchAll(parameterOpening)) {
    if (index < from || bracket === "") continue;
    const end = body.indexOf(PARAMETER_END, index + tag.length);
    if (end < 0) break;
    const value = strip(body.slice(index + tag.length, end));
    found.set(name, parseJson(value, value));
    from = end + PARAMETER_END.length;
  }
  return Object.fromEntries(found);
}

function readObject([, text]: [group: string, body: string]): TextCall[] {
  const value = parseJson(text, undefined);
  if (!isObject(value)) return [];
  const name = isTruthy(value["name"]) ? value["name"] : value["tool_name"];
  const given = value["arguments"];
  return isTruthy(name) ? [{ name, arguments: isTruthy(given) ? given : {} }] : [];
}

/** The JSON value of a text, or `otherwise`. */
export function parseJson(text: string, otherwise: unknown): unknown {
  try {
    return loads(text, { allowNonFinite: true });
  } catch (error) {
    if (error instanceof JsonTextError) return otherwise;
    throw error;
  }
}
