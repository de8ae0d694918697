/**
 * Sentences, paragraphs, lists and tables of a text with Markdown. Lines are examined one by one, so that long texts take linear
 * time.
 *
 * @module
 */
import { lstrip, strip } from "nemo-gym/python";

/** The marker of a list item or heading at the start of a line. */
const MARKER = /^\s*(?:[-*+]\s+|\d+\.\s+|#+\s+)/u;
const RULE = /^\s*([*_-])\s*\1\s*\1+\s*$/u;
const DIVIDER = /^[\s|:-]+$/u;

const isTableLine = (line: string) => {
  const content = lstrip(line);
  return content.startsWith("|") && content.includes("|", 1);
};

/** The lines without tables of at least two lines. The last line has no end and belongs to none. */
function withoutTables(lines: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index < lines.length; index++) {
    let end = index;
    while (end < lines.length - 1 && isTableLine(lines[end] ?? "")) end++;
    if (end - index >= 2) index = end - 1;
    else kept.push(lines[index] ?? "");
  }
  return kept;
}

/** The lines without tables; rules become blank lines. */
function proseLines(text: string): string[] {
  return withoutTables(text.split("\n")).map((line) => (RULE.test(line) ? "" : line));
}

/** Which characters end a sentence, as a pattern for one or more of them. */
export function endsPattern(ends: string): RegExp {
  return new RegExp(`[${ends}]+`, "gu");
}

/** The sentences of a text; each line starts a new one. */
export function sentencesOf(text: string, ends: string): string[] {
  const pattern = endsPattern(ends);
  return proseLines(text)
    .flatMap((line) => line.replace(MARKER, "").split(pattern))
    .map((sentence) => strip(sentence))
    .filter((sentence) => sentence !== "");
}

/** The runs of characters that end sentences. */
export function endingsOf(text: string, ends: string): string[] {
  const pattern = endsPattern(ends);
  return text.split("\n").flatMap((line) => line.replace(MARKER, "").match(pattern) ?? []);
}

/** Blocks of text between blank lines, without titles, headings, tables and rules. */
export function paragraphsOf(text: string): string[] {
  const isTitleOrHeading = /^\s*(?:<<.*>>\s*$|#+\s+\S)/u;
  const lines = proseLines(text).map((line) => (isTitleOrHeading.test(line) ? "" : line));
  return lines
    .join("\n")
    .split(/\n\s*\n/u)
    .map((block) => strip(block))
    .filter((block) => block !== "");
}

/** The text without the marker of a list item or heading before it. */
export function withoutMarker(text: string): string {
  return text.replace(MARKER, "");
}

/** The text without the numbers of list items. */
export function withoutListNumbers(text: string): string {
  return text.replace(/^[^\S\n]*\d+\.\s/gmu, "");
}

/** The depth and the number of items of each list, with items that match a marker. */
export function listsOf(text: string, marker: RegExp): { level: number; items: number }[] {
  const found: { level: number; items: number }[] = [];
  const open: { level: number; indent: number; items: number }[] = [];
  for (const line of text.split("\n")) {
    const content = lstrip(line);
    if (!marker.test(content)) continue;
    const indent = line.length - content.length;
    while ((open.at(-1)?.indent ?? -1) > indent) found.push(...open.splice(-1));
    const last = open.at(-1);
    if (last?.indent === indent) last.items++;
    else open.push({ level: (last?.level ?? 0) + 1, indent, items: 1 });
  }
  return [...found, ...open];
}

/** The size of each Markdown table. */
export function tablesOf(text: string): { rows: number; columns: number }[] {
  const lines = text.split("\n").map((line) => strip(line));
  const cells = (line: string) => line.split("|").filter((cell) => strip(cell) !== "").length;
  const found: { rows: number; columns: number }[] = [];
  for (let index = 0; index + 1 < lines.length; index++) {
    const [header = "", divider = ""] = lines.slice(index, index + 2);
    if (!header.includes("|") || !divider.includes("|") || !DIVIDER.test(divider)) continue;
    if (cells(header) !== cells(divider)) continue;
    let end = index + 2;
    while (lines[end]?.includes("|")) end++;
    found.push({ rows: end - index - 2, columns: cells(header) });
    index = end - 1;
  }
  return found;
}
