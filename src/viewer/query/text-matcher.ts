/** How a character is written inside a JSON string. */
const ESCAPES: Readonly<Record<string, string>> = {
  '"': String.raw`\\"`,
  "\\": String.raw`\\\\`,
  "\n": String.raw`\\n`,
  "\r": String.raw`\\r`,
  "\t": String.raw`\\t`,
  "/": String.raw`\\?/`,
};

/**
 * A pattern that finds a text in the bytes of JSON, read as Latin-1, in any case. Quotes and newlines are escaped there; letters beyond
 * ASCII are UTF-8 or, as some writers do, `\uXXXX`.
 */
export function patternFor(text: string): RegExp {
  return new RegExp([...text].map(characterPattern).join(""), "g");
}

function characterPattern(character: string): string {
  const escaped = ESCAPES[character];
  if (escaped !== undefined) return escaped;
  const cases = [...new Set([character, character.toLowerCase(), character.toUpperCase()])];
  const written = cases.flatMap((each) => {
    const code = each.codePointAt(0) ?? 0;
    if (code >= 0x20 && code < 0x7f && each.length === 1) return [literal(each)];
    return [literal(Buffer.from(each, "utf8").toString("latin1")), unicodeEscapes(each)];
  });
  return written.length === 1 ? (written[0] ?? "") : `(?:${written.join("|")})`;
}

/** `\u00e9`, in whatever case its digits are. */
function unicodeEscapes(text: string): string {
  return Array.from({ length: text.length }, (_, index) => {
    const digits = text.charCodeAt(index).toString(16).padStart(4, "0");
    return `\\\\u${digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)}`;
  }).join("");
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
