import { isBlank, type YamlScanner } from "./scanner.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  "0": "\0",
  a: "\x07",
  b: "\b",
  t: "\t",
  "\t": "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  e: "\x1b",
  " ": " ",
  '"': '"',
  "/": "/",
  "\\": "\\",
  N: "\x85",
  _: "\xa0",
  L: "\u2028",
  P: "\u2029",
};

const HEX_LENGTHS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** In flow style a plain text also ends at flow punctuation. */
const FLOW_END = /[,?[\]{}]/;
const AFTER_FLOW_COLON = /[,[\]{}]/;

/** Text without quotes; line breaks inside it are folded. */
export function scanPlain(scanner: YamlScanner): string {
  const indent = scanner.indent + 1;
  let result = "";
  let spaces = "";
  for (;;) {
    if (scanner.text[scanner.at] === "#") break;
    const length = plainLength(scanner);
    if (length === 0) break;
    scanner.allowSimpleKey = false;
    result += spaces + scanner.text.slice(scanner.at, scanner.at + length);
    scanner.at += length;
    spaces = scanPlainSpaces(scanner);
    if (spaces === "" || (scanner.flowLevel === 0 && scanner.column < indent)) break;
  }
  return result;
}

function plainLength(scanner: YamlScanner): number {
  const { text, at, flowLevel } = scanner;
  for (let end = at; ; end++) {
    const code = text.charCodeAt(end);
    if (isBlank(code)) return end - at;
    const character = text[end] ?? "";
    if (flowLevel > 0 && FLOW_END.test(character)) return end - at;
    if (code !== 58) continue;
    if (isBlank(text.charCodeAt(end + 1))) return end - at;
    if (flowLevel > 0 && AFTER_FLOW_COLON.test(text[end + 1] ?? "")) return end - at;
  }
}

/** The folded blanks between two words of a plain text; empty at its end. */
function scanPlainSpaces(scanner: YamlScanner): string {
  const start = scanner.at;
  while (scanner.code() === 32) scanner.at++;
  if (scanner.code() !== 10) return scanner.text.slice(start, scanner.at);
  scanner.newLine();
  scanner.allowSimpleKey = true;
  let breaks = "";
  for (;;) {
    if (scanner.atDocumentMarker()) return "";
    if (scanner.code() === 32) scanner.at++;
    else if (scanner.code() === 10) {
      breaks += "\n";
      scanner.newLine();
    } else return breaks === "" ? " " : breaks;
  }
}

/** Text in single or double quotes. */
export function scanQuoted(scanner: YamlScanner, quote: "'" | '"'): string {
  scanner.at++;
  let result = "";
  for (;;) {
    result += quote === "'" ? scanSingleWords(scanner) : scanDoubleWords(scanner);
    if (scanner.text[scanner.at] === quote) break;
    result += scanQuotedSpaces(scanner, quote);
  }
  scanner.at++;
  return result;
}

function scanSingleWords(scanner: YamlScanner): string {
  let result = "";
  for (;;) {
    result += scanRun(scanner, /[^' \t\n]+/y);
    if (!scanner.text.startsWith("''", scanner.at)) return result;
    result += "'";
    scanner.at += 2;
  }
}

function scanDoubleWords(scanner: YamlScanner): string {
  let result = "";
  for (;;) {
    result += scanRun(scanner, /[^"\\ \t\n]+/y);
    if (scanner.text[scanner.at] !== "\\") return result;
    result += scanEscape(scanner);
  }
}

function scanRun(scanner: YamlScanner, pattern: RegExp): string {
  pattern.lastIndex = scanner.at;
  const run = pattern.exec(scanner.text)?.[0] ?? "";
  scanner.at += run.length;
  return run;
}

function scanEscape(scanner: YamlScanner): string {
  const start = scanner.at;
  scanner.at++;
  const character = scanner.text[scanner.at] ?? "";
  if (character === "\n") {
    scanner.newLine();
    return scanQuotedBreaks(scanner);
  }
  scanner.at++;
  const simple = Object.hasOwn(ESCAPES, character) ? ESCAPES[character] : undefined;
  if (simple !== undefined) return simple;
  const length = Object.hasOwn(HEX_LENGTHS, character) ? HEX_LENGTHS[character] : undefined;
  if (length === undefined) scanner.fail(`found unknown escape character '${character}'`, start);
  const digits = scanner.text.slice(scanner.at, scanner.at + length);
  const code = /^[0-9a-fA-F]+$/.test(digits) && digits.length === length ? Number.parseInt(digits, 16) : -1;
  if (code < 0 || code > 0x10ffff) scanner.fail(`expected ${length} hexadecimal digits`, start);
  scanner.at += length;
  return String.fromCodePoint(code);
}

/** Blanks inside quotes: kept within a line, folded across lines. */
function scanQuotedSpaces(scanner: YamlScanner, quote: string): string {
  const blanks = scanRun(scanner, /[ \t]+/y);
  if (scanner.at >= scanner.text.length)
    scanner.fail(`found the end of the file before the closing ${quote}`);
  if (scanner.code() !== 10) return blanks;
  scanner.newLine();
  const breaks = scanQuotedBreaks(scanner);
  return breaks === "" ? " " : breaks;
}

function scanQuotedBreaks(scanner: YamlScanner): string {
  let breaks = "";
  for (;;) {
    if (scanner.atDocumentMarker()) scanner.fail("found unexpected document separator in a quoted text");
    scanRun(scanner, /[ \t]+/y);
    if (scanner.code() !== 10) return breaks;
    breaks += "\n";
    scanner.newLine();
  }
}

/** A block scalar: the text after `|` or `>`. */
export function scanBlockScalar(scanner: YamlScanner): string {
  const header = scanRun(scanner, /[|>](?:[+-][1-9]?|[1-9][+-]?)?/y);
  scanRun(scanner, / +(?:#[^\n]*)?/y);
  if (!Number.isNaN(scanner.code()) && scanner.code() !== 10)
    scanner.fail("expected a comment or a line break after the block scalar indicator");
  if (scanner.code() === 10) scanner.newLine();
  const folded = header.startsWith(">");
  const minimum = Math.max(scanner.indent + 1, 1);
  const given = Number(/[1-9]/.exec(header)?.[0] ?? 0);
  const lead = given > 0 ? { indent: minimum + given - 1, breaks: "" } : scanIndentation(scanner, minimum);
  let breaks = lead.breaks + scanBlockBreaks(scanner, lead.indent);
  let result = "";
  let lineBreak = "";
  while (scanner.column === lead.indent && scanner.at < scanner.text.length) {
    result += breaks;
    const indented = /[ \t]/.test(scanner.text[scanner.at] ?? "");
    result += scanRun(scanner, /[^\n]+/y);
    lineBreak = scanner.code() === 10 ? "\n" : "";
    if (lineBreak !== "") scanner.newLine();
    breaks = scanBlockBreaks(scanner, lead.indent);
    if (scanner.column !== lead.indent || scanner.at >= scanner.text.length) break;
    const nextIndented = /[ \t]/.test(scanner.text[scanner.at] ?? "");
    if (!folded || indented || nextIndented) result += lineBreak;
    else if (breaks === "") result += " ";
  }
  if (header.includes("-")) return result;
  return header.includes("+") ? result + lineBreak + breaks : result + lineBreak;
}

/** The indentation of the first line with text, and the empty lines before it. */
function scanIndentation(scanner: YamlScanner, minimum: number): { indent: number; breaks: string } {
  let indent = minimum;
  let breaks = "";
  for (;;) {
    if (scanner.code() === 32) {
      scanner.at++;
      indent = Math.max(indent, scanner.column);
    } else if (scanner.code() === 10) {
      breaks += "\n";
      scanner.newLine();
    } else return { indent, breaks };
  }
}

function scanBlockBreaks(scanner: YamlScanner, indent: number): string {
  let breaks = "";
  for (;;) {
    while (scanner.column < indent && scanner.code() === 32) scanner.at++;
    if (scanner.code() !== 10) return breaks;
    breaks += "\n";
    scanner.newLine();
  }
}
