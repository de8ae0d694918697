import { isObject, JsonTextError, loads, pyStr, SPACE_CLASS, strip } from "nemo-gym/python";

const fenceOpening = new RegExp(`\`\`\`(?:json)?[${SPACE_CLASS}]*\\{`, "g");
const fenceClosing = new RegExp(`\\}[${SPACE_CLASS}]*\`\`\``, "g");

/** The `answer` of the last JSON object that has one, in a code block or else anywhere; without one, the whole text. */
export function parseAnswer(text: string): string {
  for (const candidates of [fencedObjects(text), bracedParts(text)]) {
    for (const candidate of candidates.reverse()) {
      const value = parseObject(candidate);
      if (value && Object.hasOwn(value, "answer")) return pyStr(value["answer"]);
    }
  }
  return strip(text);
}

function fencedObjects(text: string): string[] {
  const closings = [...text.matchAll(fenceClosing)];
  const objects: string[] = [];
  let from = 0;
  let next = 0;
  for (const opening of text.matchAll(fenceOpening)) {
    if (opening.index < from) continue;
    const start = opening.index + opening[0].length - 1;
    while ((closings[next]?.index ?? Infinity) <= start) next++;
    const closing = closings[next];
    if (closing === undefined) break;
    objects.push(text.slice(start, closing.index + 1));
    from = closing.index + closing[0].length;
  }
  return objects;
}

/** The outermost `{…}` of a text. Braces in strings count too, as in the original. */
function bracedParts(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (const { 0: brace, index } of text.matchAll(/[{}]/g)) {
    if (brace === "{" && depth++ === 0) start = index;
    else if (brace === "}" && depth > 0 && --depth === 0) parts.push(text.slice(start, index + 1));
  }
  return parts;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = loads(text, { allowNonFinite: true });
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof JsonTextError) return undefined;
    throw error;
  }
}
