import type { z } from "zod";
import { parseJson } from "../../../base/door.ts";
import { splitLines, strip } from "../../../base/python/door.ts";

/** Part of the digest of a judge's parser. Increment it when a function of this file reads any text differently. */
export const VERDICT_READERS_VERSION = 1;

/** The label that occurs first. A label inside a longer one loses to it, because the longer one begins earlier. */
export function firstLabel<Label extends string>(text: string, labels: readonly Label[]): Label | null {
  const found = labels.filter((label) => text.includes(label));
  const [first = null] = found.sort((a, b) => text.indexOf(a) - text.indexOf(b));
  return first;
}

/**
 * The labels in a text from left to right. Where two labels start together, the longer one counts; no character counts
 * twice, so `INCORRECT` does not contain `CORRECT`.
 */
export function allLabels<Label extends string>(text: string, labels: readonly Label[]): Label[] {
  const longestFirst = labels.filter((label) => label !== "").sort((a, b) => b.length - a.length);
  const found: Label[] = [];
  for (let at = 0; at < text.length && longestFirst.length > 0; ) {
    const next = nextLabel(text, longestFirst, at);
    if (next === undefined) break;
    found.push(next.label);
    at = next.start + next.label.length;
  }
  return found;
}

function nextLabel<Label extends string>(text: string, longestFirst: readonly Label[], from: number) {
  let next: { label: Label; start: number } | undefined;
  for (const label of longestFirst) {
    const start = text.indexOf(label, from);
    if (start >= 0 && (next === undefined || start < next.start)) next = { label, start };
  }
  return next;
}

/** The last label of a text, as `allLabels` finds them. */
export function lastLabel<Label extends string>(text: string, labels: readonly Label[]): Label | null {
  return allLabels(text, labels).at(-1) ?? null;
}

/** The label of a text that contains no other: a judge that quotes an answer may write a label that is not its own. */
export function onlyLabel<Label extends string>(text: string, labels: readonly Label[]): Label | null {
  const [label, ...others] = new Set(allLabels(text, labels));
  return label !== undefined && others.length === 0 ? label : null;
}

/** A one-letter grade: the whole text, else the last line, else the first of the letters that occurs anywhere. */
export function letterGrade<Letter extends string>(text: string, letters: readonly Letter[]): Letter | null {
  const stripped = strip(text);
  const lastLine = strip(splitLines(stripped).at(-1) ?? "");
  return (
    letters.find((letter) => letter === stripped) ??
    letters.find((letter) => letter === lastLine) ??
    letters.find((letter) => stripped.includes(letter)) ??
    null
  );
}

/** The letter that a reply states as its grade: the whole text, else the last line, else the only one that stands by itself. */
export function statedGrade<Letter extends string>(text: string, letters: readonly Letter[]): Letter | null {
  const lastLine = strip(splitLines(strip(text)).at(-1) ?? "");
  const ended = letters.find((letter) => letter === lastLine);
  if (ended !== undefined) return ended;
  const words = new Set(text.split(/[^\p{L}\p{N}'’]+/u));
  const [letter, ...others] = letters.filter((each) => words.has(each));
  return letter !== undefined && others.length === 0 ? letter : null;
}

const FENCE = "```";

/** The JSON object in a judge's reply: inside a code fence, else from the first "{" to the last "}"; null if it does not fit the schema. */
export function jsonVerdict<Schema extends z.ZodType>(text: string, schema: Schema): z.output<Schema> | null {
  for (const candidate of jsonCandidates(text)) {
    const value = parseJson(candidate);
    if (value === undefined) continue;
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
  }
  return null;
}

function* jsonCandidates(text: string): Generator<string> {
  const open = text.indexOf(FENCE);
  const close = open < 0 ? -1 : text.indexOf(FENCE, open + FENCE.length);
  if (close > 0) yield* braced(text.slice(open + FENCE.length, close));
  yield* braced(text);
}

function* braced(text: string): Generator<string> {
  const start = text.indexOf("{");
  const end = text.lastIndexOf("}");
  if (start >= 0 && end > start) yield text.slice(start, end + 1);
}
