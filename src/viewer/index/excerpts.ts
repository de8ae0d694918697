import { plainLine } from "../conversation/plain-line.ts";

/** Bytes read to make an excerpt. */
export const EXCERPT_BYTES = 2048;
const QUOTE = 0x22;
/** Maximum length of an excerpt, in characters. */
const MAX_EXCERPT = 120;
/** The beginning of the value at a position of a row: a text, or the item of a function call. */
export function excerptAt(bytes: Buffer): string {
  if (bytes[0] === QUOTE) return excerptOf(stringPrefix(bytes));
  const text = bytes.toString("utf8");
  const name = /"name"\s*:\s*"([^"\\]{1,200})"/.exec(text)?.[1] ?? "";
  const found = /"arguments"\s*:\s*"/.exec(text);
  const from = found ? Buffer.byteLength(text.slice(0, found.index + found[0].length - 1)) : -1;
  const written = from === -1 ? "" : stringPrefix(bytes.subarray(from));
  return excerptOf(`${name}(${written})`);
}

/** The available part of a JSON string; `bytes` begins with its opening quote. */
function stringPrefix(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  let end = 1;
  while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  // An escape or a multi-byte character that was split.
  const inside = text
    .slice(1, Math.min(end, text.length))
    .replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, "")
    .replace(/\uFFFD+$/, "");
  try {
    return JSON.parse(`"${inside}"`) as string;
  } catch {
    return inside;
  }
}

/** The beginning of a text, on one line. */
export function excerptOf(text: string): string {
  const line = plainLine(text);
  return line.length > MAX_EXCERPT ? `${line.slice(0, MAX_EXCERPT)}…` : line;
}
