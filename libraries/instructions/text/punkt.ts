/**
 * The Punkt sentence tokenizer (Kiss and Strunk, Unsupervised Multilingual Sentence Boundary Detection, 2006) with its
 * English model. Returns the same sentences as NLTK 3.10, in linear time.
 *
 * @module
 */
import { isSpaceCode, rstrip } from "nemo-gym/python";
import {
  englishParameters,
  type PunktParameters,
  SEEN_BEGIN_LOWER,
  SEEN_LOWER,
  SEEN_MID_UPPER,
  SEEN_UPPER,
} from "./punkt-parameters.ts";
import { isNonWord, punktWords } from "./punkt-words.ts";

interface Token {
  text: string;
  /** Lower case, numbers replaced. */
  type: string;
  endsSentence: boolean;
  abbreviation: boolean;
  ellipsis: boolean;
}

interface Span {
  start: number;
  end: number;
}

/** A place where a sentence may end: a `.`, `?` or `!` before other punctuation or white space and a word. */
interface Candidate {
  at: number;
  /** Start of the next word; -1 if punctuation follows directly. */
  nextStart: number;
  nextEnd: number;
}

/** Avoids the number pattern for most words. */
const MAY_BE_NUMBER = /^[^a-z]/;
const NUMBER = /^-?[.,]?\p{Nd}[\p{Nd},.-]*\.?$/u;
const ELLIPSIS = /^\.\.+$/;
const INITIAL = /^[\p{L}\p{Nl}\p{No}_]\.$/u;
const PUNCTUATION = new Set([";", ":", ",", ".", "!", "?"]);
const CLOSING = new Set("\"')]}\u2018\u2019\u201c\u201d\u00ab\u00bb");
const ASCII_SPACE = new Set(" \t\n\r\v\f");
const FIRST_UPPER = /^\p{Uppercase}/u;
const FIRST_LOWER = /^\p{Lowercase}/u;

/** Splits an English text into sentences. */
export function punktSentences(text: string): string[] {
  const parameters = englishParameters();
  const spans = realign(text, sentenceSpans(text, parameters));
  return spans.map(({ start, end }) => text.slice(start, end));
}

function sentenceSpans(text: string, parameters: PunktParameters): Span[] {
  const spans: Span[] = [];
  let start = 0;
  for (const { candidate, context } of contexts(text)) {
    if (!containsBreak(context, parameters)) continue;
    spans.push({ start, end: candidate.at + 1 });
    start = candidate.nextStart >= 0 ? candidate.nextStart : candidate.at + 1;
  }
  spans.push({ start, end: rstrip(text).length });
  return spans;
}

function* candidates(text: string): Generator<Candidate> {
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character !== "." && character !== "?" && character !== "!") continue;
    if (isNonWord(text[at + 1])) {
      yield { at, nextStart: -1, nextEnd: at + 2 };
      continue;
    }
    let nextStart = at + 1;
    while (nextStart < text.length && isSpaceCode(text.charCodeAt(nextStart))) nextStart++;
    if (nextStart === at + 1 || nextStart === text.length) continue;
    let nextEnd = nextStart;
    while (nextEnd < text.length && !isSpaceCode(text.charCodeAt(nextEnd))) nextEnd++;
    yield { at, nextStart, nextEnd };
  }
}

/** Each candidate with the words before and after it; only the last candidate within a word counts. */
function* contexts(text: string): Generator<{ candidate: Candidate; context: string }> {
  let previous: Candidate | undefined;
  let word: Span = { start: 0, end: 0 };
  const contextOf = (candidate: Candidate) => ({
    candidate,
    context: text.slice(word.start, word.end) + text.slice(candidate.at, candidate.nextEnd),
  });
  for (const candidate of candidates(text)) {
    let space = candidate.at - 1;
    while (space > word.end && !ASCII_SPACE.has(text[space] ?? "")) space--;
    // White space directly after the previous word does not count, as in NLTK.
    const start = space > word.end ? space + 1 : word.start;
    if (previous && word.end <= start) yield contextOf(previous);
    previous = candidate;
    word = { start, end: candidate.at };
  }
  if (previous) yield contextOf(previous);
}

/** Whether a sentence ends before the last word of the context. */
function containsBreak(context: string, parameters: PunktParameters): boolean {
  let previous: Token | undefined;
  let found = false;
  for (const line of context.includes("\n") ? context.split("\n") : [context]) {
    for (const word of punktWords(line)) {
      const token = firstPass(word, parameters);
      if (previous) {
        secondPass(previous, token, parameters);
        if (found) return true;
        found = previous.endsSentence;
      }
      previous = token;
    }
  }
  return found;
}

/** Properties of a word on its own. */
function firstPass(text: string, { abbreviations }: PunktParameters): Token {
  const lower = text.toLowerCase();
  const type = MAY_BE_NUMBER.test(lower) && NUMBER.test(lower) ? "##number##" : lower;
  const token = { text, type, endsSentence: false, abbreviation: false, ellipsis: false };
  if (text === "." || text === "?" || text === "!") token.endsSentence = true;
  else if (ELLIPSIS.test(text)) token.ellipsis = true;
  else if (text.endsWith(".") && !text.endsWith("..")) {
    const stem = text.slice(0, -1).toLowerCase();
    if (abbreviations.has(stem) || abbreviations.has(stem.slice(stem.lastIndexOf("-") + 1))) {
      token.abbreviation = true;
    } else token.endsSentence = true;
  }
  return token;
}

/** Decides with the next word whether a word with a final period ends a sentence. */
function secondPass(token: Token, next: Token, parameters: PunktParameters): void {
  if (!token.text.endsWith(".")) return;
  const type = withoutPeriod(token.type);
  const nextType = next.endsSentence ? withoutPeriod(next.type) : next.type;
  const isInitial = token.text.length <= 3 && INITIAL.test(token.text);
  if (parameters.collocations.has(`${type} ${nextType}`)) {
    markAbbreviation(token);
    return;
  }

  const isNumber = type === "##number##";
  if (!token.abbreviation && !token.ellipsis && !isInitial && !isNumber) return;
  const starts = startsSentence(next, nextType, parameters);
  const nextIsUpper = FIRST_UPPER.test(next.text);
  if ((token.abbreviation || token.ellipsis) && !isInitial) {
    if (starts === true || (nextIsUpper && parameters.sentenceStarters.has(nextType))) {
      token.endsSentence = true;
      return;
    }
  }
  if (isInitial || isNumber) {
    const seen = parameters.orthography.get(nextType) ?? 0;
    const isName = starts === undefined && isInitial && nextIsUpper && !(seen & SEEN_LOWER);
    if (starts === false || isName) markAbbreviation(token);
  }
}

function markAbbreviation(token: Token): void {
  token.endsSentence = false;
  token.abbreviation = true;
}

/** Whether a word starts a sentence, based on how it was written elsewhere; undefined if unknown. */
function startsSentence(token: Token, type: string, { orthography }: PunktParameters): boolean | undefined {
  if (PUNCTUATION.has(token.text)) return false;
  const seen = orthography.get(type) ?? 0;
  if (FIRST_UPPER.test(token.text) && seen & SEEN_LOWER && !(seen & SEEN_MID_UPPER)) return true;
  if (FIRST_LOWER.test(token.text) && (seen & SEEN_UPPER || !(seen & SEEN_BEGIN_LOWER))) return false;
  return undefined;
}

function withoutPeriod(type: string): string {
  return type.length > 1 && type.endsWith(".") ? type.slice(0, -1) : type;
}

/** Moves closing quotes and brackets to the sentence that they close. */
function realign(text: string, spans: Span[]): Span[] {
  const result: Span[] = [];
  let taken = 0;
  for (const [index, span] of spans.entries()) {
    const start = span.start + taken;
    const next = spans[index + 1];
    const closing = next && closingLength(text, next);
    if (closing) {
      result.push({ start, end: next.start + closing.characters });
      taken = closing.withSpace;
    } else {
      taken = 0;
      if (start < span.end) result.push({ start, end: span.end });
    }
  }
  return result;
}

function closingLength(
  text: string,
  { start, end }: Span,
): { characters: number; withSpace: number } | undefined {
  let at = start;
  while (at < end && CLOSING.has(text[at] ?? "")) at++;
  const characters = at - start;
  if (characters === 0) return undefined;
  let after = at;
  while (after < end && isSpaceCode(text.charCodeAt(after))) after++;
  if (after === at && at < end && !(text[at] === "-" && text[at + 1] === "-" && at + 1 < end))
    return undefined;
  return { characters, withSpace: after - start };
}
