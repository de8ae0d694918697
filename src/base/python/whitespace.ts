/** Python's white space, which differs from that of JavaScript's `trim`. */

/** Python's `str.isspace` of a UTF-16 code unit. All white space is in the basic plane. */
export function isSpaceCode(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d) || (code >= 0x1c && code <= 0x1f);
  if (code < 0x85) return false;
  return (
    code === 0x85 ||
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

/** The same set for the character class of a regular expression: `\s` of Python's `re`. */
export const SPACE_CLASS =
  "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

/** `text.strip()` or `text.strip(characters)`. */
export function strip(text: string, characters?: string): string {
  return rstrip(lstrip(text, characters), characters);
}

/** `text.lstrip()`. */
export function lstrip(text: string, characters?: string): string {
  let start = 0;
  if (characters === undefined) {
    while (start < text.length && isSpaceCode(text.charCodeAt(start))) start++;
  } else {
    const set = new Set(characters);
    while (start < text.length) {
      const character = String.fromCodePoint(text.codePointAt(start) ?? 0);
      if (!set.has(character)) break;
      start += character.length;
    }
  }
  return start === 0 ? text : text.slice(start);
}

/** `text.rstrip()`. */
export function rstrip(text: string, characters?: string): string {
  let end = text.length;
  if (characters === undefined) {
    while (end > 0 && isSpaceCode(text.charCodeAt(end - 1))) end--;
  } else {
    const set = new Set(characters);
    while (end > 0) {
      const pair = end > 1 ? text.codePointAt(end - 2) : undefined;
      const width = pair !== undefined && pair > 0xffff ? 2 : 1;
      if (!set.has(text.slice(end - width, end))) break;
      end -= width;
    }
  }
  return end === text.length ? text : text.slice(0, end);
}

/** `text.split()`: the runs of characters that are not white space. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let start = -1;
  for (let index = 0; index < text.length; index++) {
    if (isSpaceCode(text.charCodeAt(index))) {
      if (start >= 0) words.push(text.slice(start, index));
      start = -1;
    } else if (start < 0) start = index;
  }
  if (start >= 0) words.push(text.slice(start));
  return words;
}

function isLineBreak(code: number): boolean {
  return (
    (code >= 0x0a && code <= 0x0d) ||
    (code >= 0x1c && code <= 0x1e) ||
    code === 0x85 ||
    code === 0x2028 ||
    code === 0x2029
  );
}

/** `text.splitlines()`: also splits at \v, \f, \x1c-\x1e, \x85, \u2028 and \u2029. A last line break adds no empty line. */
export function splitLines(text: string): string[] {
  const lines: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    if (!isLineBreak(text.charCodeAt(index))) continue;
    lines.push(text.slice(start, index));
    if (text[index] === "\r" && text[index + 1] === "\n") index++;
    start = index + 1;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}
