import { strip } from "nemo-gym/python";

const EMPTY_THOUGHTS = "<think>\n\n</think>\n\n";
const FENCE = "```";
const BEGIN = /<\|BEGIN_CODE\|>[ \t]*\n?/i;
const END = /<\|END_CODE\|>/i;

/**
 * The code of an answer: the first fenced block, else the text between the code marks, else all of it. A missing end is
 * the end of the text. `decode` decodes its escapes first.
 */
export function extractCode(answer: string, { decode }: { decode: boolean }): string {
  const unmarked = answer.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll(EMPTY_THOUGHTS, "");
  const text = (decode ? decodeEscapes(unmarked) : undefined) ?? unmarked;
  return strip(fencedBlock(text) ?? markedBlock(text) ?? text);
}

function fencedBlock(text: string): string | undefined {
  const fence = text.indexOf(FENCE);
  const lineEnd = fence < 0 ? -1 : text.indexOf("\n", fence);
  return lineEnd < 0 ? undefined : upTo(text.slice(lineEnd + 1), text.indexOf(FENCE, lineEnd) - lineEnd - 1);
}

function markedBlock(text: string): string | undefined {
  const begin = BEGIN.exec(text);
  if (!begin) return undefined;
  const rest = text.slice(begin.index + begin[0].length);
  return upTo(rest, rest.search(END));
}

function upTo(text: string, end: number): string {
  return end < 0 ? text : text.slice(0, end);
}

const ESCAPE = /\\(?:([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]?))/g;
const simple: Readonly<Record<string, string>> = {
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/**
 * Python's `unicode_escape` codec, which the original applies to every answer: escapes are decoded, and other characters become
 * the Latin-1 characters of their UTF-8 bytes. Undefined where Python raises.
 */
export function decodeEscapes(text: string): string | undefined {
  if (/\p{Surrogate}/u.test(text)) return undefined;
  const bytes = Buffer.from(text, "utf8").toString("latin1");
  let valid = true;
  const decoded = bytes.replace(ESCAPE, (whole, octal, byte, short, long, other: string | undefined) => {
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    const hex = byte ?? short ?? long;
    if (hex !== undefined) {
      const code = Number.parseInt(hex, 16);
      if (code <= 0x10ffff) return String.fromCodePoint(code);
      valid = false;
    }
    // The end of the text, an incomplete escape, or a character by its name, which is not supported.
    if (other === undefined || /^[xuUN]?$/.test(other)) valid = false;
    return simple[other ?? ""] ?? whole;
  });
  return valid ? decoded : undefined;
}
