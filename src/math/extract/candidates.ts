/**
 * Finds the places in a text that may be the answer. Lower priorities are better; within a priority the rightmost end is first.
 *
 * @module
 */
import { boxedContent } from "./boxes.ts";
import { EnvironmentScanner, type LatexEnvironment, PERCENT } from "./latex-environments.ts";

/** A part of a text that may be the answer. */
export interface AnswerCandidate {
  readonly priority: number;
  readonly start: number;
  readonly end: number;
  readonly kind: "latex" | "number" | "expression";
  readonly contents: readonly string[];
  readonly percent: boolean;
}

const HOPE = 0;
const FINAL = 50;
const COLON = 100;
const ANSWER = 200;
const ANYWHERE = 300;

const FINAL_ANSWER = /final answer/gi;
const IS = /\sis:?\s*/;
const HOPE_TAIL = /\.?\s?I hope/y;
const ANSWER_WORDS = [
  [/answer:/gi, COLON],
  [/answer/gi, ANSWER],
] as const;
const FINAL_REACH = 100;
const ANSWER_REACH = 50;
const EQUALS_REACH = 100;
/** Maximum length of a number or expression outside LaTeX. */
const MAX_PLAIN_CHARS = 100;
/** Maximum number of places of one kind. */
const MAX_KEPT = 200;

const CURRENCY = "(?:[$€£¥₹₽₩₪₫฿]\\s{0,9})?";
const NUMBER_BODY = "-?(?:\\d{1,3}(?:[ ,]\\d{3})+(?:\\.\\d+)?(?!\\d)|\\d+[.,]\\d+|\\d+)|\\.\\d+";
const NUMBER = new RegExp(`(?<=^|\\s|=)(?:\\*\\*)?${CURRENCY}(${NUMBER_BODY})`, "g");
const EXPRESSION =
  /(?<=^|\s|=)(?:\*\*)?([-(]{0,99}\d[\d.]*(?:\){0,99}\s{0,9}(?:\*\*|[-+*×/^÷])\s{0,9}[-(]{0,99}\d[\d.]*)+\){0,99})/g;

/** All candidates in `text`, best first. `targets` selects the forms. */
export function findCandidates(text: string, targets: "latex" | "all"): AnswerCandidate[] {
  const found = [...latexCandidates(text), ...(targets === "all" ? plainCandidates(text) : [])];
  return found.sort((a, b) => a.priority - b.priority || b.end - a.end || a.start - b.start);
}

function candidate(
  priority: number,
  start: number,
  { end, contents, percent }: LatexEnvironment,
): AnswerCandidate {
  return { priority, start, end, kind: "latex", contents, percent };
}

function* latexCandidates(text: string): Generator<AnswerCandidate> {
  const scanner = new EnvironmentScanner(text);
  for (const { start, from } of finalAnswers(text)) {
    const environment = scanner.at(from);
    if (!environment) continue;
    HOPE_TAIL.lastIndex = environment.end;
    if (HOPE_TAIL.test(text)) yield candidate(HOPE, start, environment);
    yield candidate(FINAL, start, environment);
  }
  for (const environment of last(scanner.all((content) => /\\(?:boxed|fbox)/.test(content)))) {
    yield candidate(FINAL, environment.start, environment);
  }
  yield* bareBox(text);
  for (const [pattern, priority] of ANSWER_WORDS) {
    for (const { start, end } of occurrences(pattern, text)) {
      const environment = scanner.within(end, ANSWER_REACH);
      if (environment) yield candidate(priority, start, environment);
    }
  }
  for (const environment of last(scanner.all())) {
    yield candidate(ANYWHERE, environment.start, environment);
    yield* nested(text, environment);
  }
}

/** LaTeX delimiters inside LaTeX delimiters, as in `$\boxed{\(7\)}$`. */
function* nested(text: string, outer: LatexEnvironment): Generator<AnswerCandidate> {
  const inside = text.slice(outer.start + 1, outer.end - 1);
  if (!/\\[([]/.test(inside)) return;
  for (const { start, end, ...rest } of new EnvironmentScanner(inside).all()) {
    const offset = outer.start + 1;
    yield candidate(ANYWHERE, start + offset, { start: start + offset, end: end + offset, ...rest });
  }
}

/** `\boxed{…}` outside LaTeX delimiters, up to the last brace of the text. */
function* bareBox(text: string): Generator<AnswerCandidate> {
  const start = text.indexOf("\\boxed{");
  const last = text.lastIndexOf("}");
  if (start === -1 || last <= start + "\\boxed{".length) return;
  const content = boxedContent(text.slice(start, last + 1), "last group");
  if (content === undefined) return;
  yield { priority: FINAL, start, end: last + 1, kind: "latex", contents: [content], percent: false };
}

function* plainCandidates(text: string): Generator<AnswerCandidate> {
  for (const { start, from } of finalAnswers(text)) {
    const found = plainAt(text, from);
    if (!found) continue;
    HOPE_TAIL.lastIndex = found.end;
    if (HOPE_TAIL.test(text)) yield { ...found, start, priority: HOPE };
    yield { ...found, start, priority: FINAL };
  }
  for (const [pattern, priority] of ANSWER_WORDS) {
    for (const { start, end } of occurrences(pattern, text)) {
      const found = afterEquals(text, end) ?? plainWithin(text, end, ANSWER_REACH);
      if (found) yield { ...found, start, priority };
    }
  }
  yield* last(numbers(text));
  yield* last(expressions(text));
}

/** The number after the last `=` in reach that has one. */
function afterEquals(text: string, from: number): AnswerCandidate | undefined {
  for (
    let at = text.lastIndexOf("=", from + EQUALS_REACH);
    at >= from;
    at = at === 0 ? -1 : text.lastIndexOf("=", at - 1)
  ) {
    const found = plainAt(text, at + 1);
    if (found) return found;
  }
  return undefined;
}

/** A number or expression directly after `from`. */
function plainAt(text: string, from: number): AnswerCandidate | undefined {
  const blank = /[\s*$€£¥]{0,8}/y;
  blank.lastIndex = from;
  const reach = blank.exec(text)?.[0].length ?? 0;
  return plainWithin(text, from, reach);
}

/** The first number or expression that starts within `reach`. Of two at the same place the longer one counts. */
function plainWithin(text: string, from: number, reach: number): AnswerCandidate | undefined {
  const before = Math.max(0, from - 1);
  const window = text.slice(before, from + reach + MAX_PLAIN_CHARS);
  let best: AnswerCandidate | undefined;
  for (const candidates of [numbers(window), expressions(window)]) {
    for (const { start, end, ...rest } of candidates) {
      const at = start + before;
      if (at > from + reach) break;
      if (at < from || (best && (best.start < at || (best.start === at && best.end >= end + before))))
        continue;
      best = { ...rest, start: at, end: end + before };
    }
  }
  return best;
}

/** The last items only, because earlier ones would never be tried. */
function last<T>(items: Iterable<T>): T[] {
  const kept: T[] = [];
  for (const item of items) {
    kept.push(item);
    if (kept.length >= 2 * MAX_KEPT) kept.splice(0, MAX_KEPT);
  }
  return kept;
}

function* numbers(text: string): Generator<AnswerCandidate> {
  for (const match of text.matchAll(NUMBER)) {
    const digits = match[1] as string;
    const end = match.index + match[0].length;
    PERCENT.lastIndex = end;
    const percent = PERCENT.test(text);
    const start = end - digits.length;
    const contents = [plainNumber(digits)];
    yield {
      priority: ANYWHERE,
      start,
      end: percent ? PERCENT.lastIndex : end,
      kind: "number",
      contents,
      percent,
    };
  }
}

function* expressions(text: string): Generator<AnswerCandidate> {
  for (const match of text.matchAll(EXPRESSION)) {
    const content = (match[1] as string).trim();
    const start = match.index + match[0].indexOf(content);
    yield {
      priority: ANYWHERE,
      start,
      end: start + content.length,
      kind: "expression",
      contents: [content],
      percent: false,
    };
  }
}

/** `1,234.5` and `1 234.5` group digits; `12,5` has a decimal comma. */
function plainNumber(digits: string): string {
  if (/^-?\d{1,3}(?:[ ,]\d{3})+(?:\.\d+)?$/.test(digits)) return digits.replace(/[ ,]/g, "");
  return digits.replace(",", ".").replace(/^\./, "0.");
}

/** The places of "final answer … is": the start of the words, and of the answer. */
function* finalAnswers(text: string): Generator<{ start: number; from: number }> {
  for (const { start, end } of occurrences(FINAL_ANSWER, text)) {
    const is = IS.exec(text.slice(end, end + FINAL_REACH + 20));
    if (is && is.index <= FINAL_REACH) yield { start, from: end + is.index + is[0].length };
  }
}

function occurrences(pattern: RegExp, text: string): { start: number; end: number }[] {
  return last(text.matchAll(pattern)).map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
}
