import { excerptOf } from "../conversation/text-of-items.ts";

/** Bytes read to make an excerpt. */
export const EXCERPT_BYTES = 2048;
const QUOTE = 0x22;

/** The beginning of what stands at a place of a row: a text, or the item of a function call. */
export function excerptAt(bytes: Buffer): string {
  if (bytes[0] === QUOTE) return excerptOf(stringPrefix(bytes));
  const text = bytes.toString("utf8");
  const name = /"name"\s*:\s*"([^"\\]{1,200})"/.exec(text)?.[1] ?? "";
  const found = /"arguments"\s*:\s*"/.exec(text);
  const from = found ? Buffer.byteLength(text.slice(0, found.index + found[0].length - 1)) : -1;
  const written = from === -1 ? "" : stringPrefix(bytes.subarray(from));
  return excerptOf(`${name}(${written})`);
}

/** As much of a JSON string as there is of it; `bytes` begins with its opening quote. */
function stringPrefix(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  let end = 1;
  while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  // An escape that was cut in half, or a character of which only some bytes are there.
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
