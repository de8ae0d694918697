import { codePointLength, compilePyRegex, isSpaceCode, strip } from "nemo-gym/python";
import {
  type ChoiceOptions,
  comparableOptions,
  comparableText,
  isSingleLetter,
  lastBoxed,
  latinLetters,
  letterOfText,
  offeredLetters,
  unwrapText,
} from "nemo-gym/verify";
import type { GradingMode } from "../../libraries/multiple-choice/row.ts";

type Options = ChoiceOptions | null | undefined;

/** The answer letter of a text, extracted according to `mode`; undefined if it names no offered option. */
export function findAnswer(
  text: string,
  mode: GradingMode,
  options: Options,
  answerPrefix?: string,
): string | undefined {
  const letters = offeredLetters(options);
  switch (mode) {
    case "strict_single_letter_boxed":
      return boxedLetter(text, letters);
    case "lenient_boxed":
      return boxedLetter(text, letters) ?? boxedOptionText(text, options, letters);
    case "lenient_answer_colon":
      return firstAnswerLine(text, options, letters);
    case "lenient_answer_colon_md":
      return lastMarkdownAnswer(text.normalize("NFKC"), letters, answerPrefix);
  }
}

function offered(letter: string | undefined, letters: ReadonlySet<string>): string | undefined {
  return letter !== undefined && letters.has(letter) ? letter : undefined;
}

/** A box that contains one capital letter, or starts with a capital letter and a label mark (`B: …`, `B) …`). */
function boxedLetter(text: string, letters: ReadonlySet<string>): string | undefined {
  const box = lastBoxed(text);
  if (box === undefined) return undefined;
  const content = unwrapText(strip(box));
  return offered(onlyCapital(content) ?? labelLetter(content), letters);
}

/** The only ASCII letter of a text, if it is a capital. */
function onlyCapital(text: string): string | undefined {
  let found: string | undefined;
  for (const match of text.matchAll(/[A-Za-z]/g)) {
    if (found !== undefined) return undefined;
    found = match[0];
  }
  return found !== undefined && found <= "Z" ? found : undefined;
}

function labelLetter(text: string): string | undefined {
  const letter = text[0];
  if (letter === undefined || letter < "A" || letter > "Z") return undefined;
  let index = 1;
  while (index < text.length && isSpaceCode(text.charCodeAt(index))) index++;
  return ":).-".includes(text[index] ?? " ") ? letter : undefined;
}

/** The only option whose text occurs in the box. */
function boxedOptionText(text: string, options: Options, letters: ReadonlySet<string>): string | undefined {
  const box = lastBoxed(text);
  if (box === undefined) return undefined;
  const content = strip(box);
  const readings = [comparableText(content), comparableText(unwrapText(content))];
  const found = new Set<string>();
  for (const option of comparableOptions(options, letters)) {
    if (option.text !== "" && readings.some((reading) => reading.includes(option.text)))
      found.add(option.letter);
  }
  const [only, ...more] = found;
  return more.length === 0 ? only : undefined;
}

const answerLine = compilePyRegex(String.raw`(?i)answer\s*:\s*(.+)`);

/** The text after the first `Answer:` is a letter or the text of an option. */
function firstAnswerLine(text: string, options: Options, letters: ReadonlySet<string>): string | undefined {
  const payload = answerLine.search(text)?.group(1);
  if (payload === undefined || payload === null) return undefined;
  const answer = strip(unwrapText(payload));
  const letter = isSingleLetter(answer) ? offered(answer.toUpperCase(), letters) : undefined;
  return letter ?? letterOfText(answer, options, letters);
}

const markdownAnswer = compilePyRegex(String.raw`(?im)[*_]{0,2}Answer[*_]{0,2}\s*:[*_\s]{0,2}(.+)`);

/**
 * The last `Answer:`, plain or emphasised, that is followed by a letter. The row's own prefix counts like `Answer:`; a row
 * that has one may also be answered with a box.
 */
function lastMarkdownAnswer(
  text: string,
  letters: ReadonlySet<string>,
  answerPrefix?: string,
): string | undefined {
  const patterns = answerPrefix ? [markdownAnswer, afterPrefix(answerPrefix)] : [markdownAnswer];
  const matches = patterns.flatMap((pattern) => [...pattern.finditer(text)]);
  for (const match of matches.sort((a, b) => b.start - a.start)) {
    const letter = letterOfPayload(match.group(1) ?? "", letters);
    if (letter !== undefined) return letter;
  }
  return answerPrefix ? boxedLetter(text, letters) : undefined;
}

function afterPrefix(prefix: string) {
  const literal = prefix.normalize("NFKC").replace(/[^\p{L}\p{N}\s]/gu, "\\$&");
  return compilePyRegex(`(?i)${literal}(.+)`);
}

const leadingLetter = /^([A-Za-z])(?![A-Za-z0-9])/;
const standaloneCapital = compilePyRegex(String.raw`\b[A-Z]\b`);

function letterOfPayload(payload: string, letters: ReadonlySet<string>): string | undefined {
  const answer = strip(latinLetters(payload), "*_` \t\n\r.,;:");
  if (listsSeveral(answer, letters)) return undefined;
  const letter =
    codePointLength(answer) === 1
      ? answer
      : (leadingLetter.exec(answer)?.[1] ?? standaloneCapital.findall(answer).at(-1));
  return offered(letter?.toUpperCase(), letters);
}

const loneLetter = /(?<![A-Za-z])[A-Za-z](?![A-Za-z])/g;
const listSeparator = compilePyRegex(String.raw`(?:\s*[/|&,;]\s*|\s+(?:or|and)\s+|\s+)`, {
  ignoreCase: true,
});

/** Whether two different offered letters are adjacent as in a list (`A or B`, `A/B`). */
function listsSeveral(text: string, letters: ReadonlySet<string>): boolean {
  let previous: { letter: string; end: number } | undefined;
  for (const match of text.matchAll(loneLetter)) {
    const letter = match[0].toUpperCase();
    if (!letters.has(letter)) continue;
    if (previous && previous.letter !== letter) {
      if (listSeparator.fullmatch(text.slice(previous.end, match.index))) return true;
    }
    previous = { letter, end: match.index + 1 };
  }
  return false;
}
