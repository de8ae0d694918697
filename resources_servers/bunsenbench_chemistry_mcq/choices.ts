import { isObject, splitLines, splitWords, strip } from "nemo-gym/python";
import type { ChoiceOptions } from "nemo-gym/verify";
import { boxes } from "./boxes.ts";
import { comparableFormula } from "./formula.ts";

/** The texts of the options by their letter. */
export type Options = ReadonlyMap<string, string>;

/** The options of a row: `options`, or `choices` as texts or objects in the order of their letters. */
export function optionsOf(row: {
  options?: ChoiceOptions | null | undefined;
  choices?: readonly unknown[] | null | undefined;
}): Options {
  if (row.options && row.options.length > 0) {
    const entries = row.options.flatMap((option) => Object.entries(option));
    return new Map(entries.flatMap(([key, text]) => (text === null ? [] : [[key.toUpperCase(), text]])));
  }
  return new Map(
    (row.choices ?? []).map((choice, index) => readChoice(choice, String.fromCharCode(65 + index))),
  );
}

function readChoice(choice: unknown, positionLetter: string): [letter: string, text: string] {
  if (!isObject(choice)) return [positionLetter, String(choice)];
  const first = (keys: string[], fits: (value: string) => boolean) =>
    keys.map((key) => choice[key]).find((value): value is string => typeof value === "string" && fits(value));
  const letter = first(["letter", "label", "key", "id"], (value) => strip(value).length === 1);
  const text = first(["text", "content", "value", "choice"], () => true);
  return [letter === undefined ? positionLetter : strip(letter).toUpperCase(), text ?? ""];
}

/** The expected letter, also if the row gives it in brackets or as the text of an option. */
export function goldLetter(expected: string, options: Options): string {
  const bare = withoutWrappers(expected);
  return /^[a-z]$/i.test(bare)
    ? bare.toUpperCase()
    : (parseChoice(bare, options, lettersOf(options, "")) ?? bare);
}

/** The letters that an answer may have. */
export function lettersOf(options: Options, gold: string): ReadonlySet<string> {
  return new Set(/^[A-Z]$/.test(gold) ? [...options.keys(), gold] : options.keys());
}

/** The letter of the last answer in a text that can be read; without a declared answer, of the last or the first line. */
export function findChoice(text: string, options: Options, letters: ReadonlySet<string>): string | undefined {
  const declared = declaredAnswers(text).sort(
    (left, right) => right.start - left.start || (left.text < right.text ? 1 : -1),
  );
  const lines = splitLines(text).filter((line) => strip(line) !== "");
  for (const candidate of [...declared.map((answer) => answer.text), lines.at(-1) ?? "", lines[0] ?? ""]) {
    const letter = parseChoice(candidate, options, letters);
    if (letter !== undefined) return letter;
  }
  return undefined;
}

/** The whole rest of the line is the answer. */
const declarations = [
  /(?<=^[ \t]*(?:[-*•][ \t]+)?(?:\*\*|__)?)answer(?:\*\*|__)?[ \t]*:(.*)$/gim,
  /\banswer[ \t]*:(.*)$/gim,
  /\b(?:the[ \t]+(?:correct[ \t]+)?|my[ \t]+)answer[ \t]+is\b:?(.*)$/gim,
  /\bi[ \t]+(?:choose|select)\b:?(.*)$/gim,
];

function declaredAnswers(text: string): { start: number; text: string }[] {
  const spoken = declarations.flatMap((pattern) => Array.from(text.matchAll(pattern)));
  return [
    ...taggedAnswers(text),
    ...boxes(text),
    ...spoken.map((match) => ({ start: match.index, text: strip(match[1] ?? "") })),
  ];
}

const tags = /<(\/?)(choices?|answer|response|final[_-]answer)>/gi;

/** The contents of `<answer>` and similar tags. A `<choice>` in a list of `<choices>` repeats the question. */
function taggedAnswers(text: string): { start: number; text: string }[] {
  const found: { start: number; text: string }[] = [];
  const open = new Map<string, RegExpMatchArray & { index: number }>();
  const listEnd = text.toLowerCase().lastIndexOf("</choices>");
  for (const match of text.matchAll(tags)) {
    const name = (match[2] ?? "").toLowerCase();
    const opening = open.get(name);
    if (match[1] === "") {
      if (!opening && (name !== "choices" || match.index < listEnd)) open.set(name, match);
    } else if (opening) {
      open.delete(name);
      if (name !== "choices" && !(name === "choice" && open.has("choices")))
        found.push({
          start: opening.index,
          text: strip(text.slice(opening.index + opening[0].length, match.index)),
        });
    }
  }
  return found;
}

/** The letter that a candidate names, or the letter of the option that it is. */
function parseChoice(candidate: string, options: Options, letters: ReadonlySet<string>): string | undefined {
  const bare = withoutWrappers(candidate);
  for (const text of bare === candidate ? [bare] : [candidate, bare]) {
    const letter = namedLetter(text)?.toUpperCase();
    if (letter !== undefined && letters.has(letter)) return letter;
    const wanted = comparableFormula(text);
    const option = [...options].find(([, content]) => wanted !== "" && comparableFormula(content) === wanted);
    if (option) return option[0];
  }
  return undefined;
}

function namedLetter(candidate: string): string | undefined {
  const text = strip(candidate);
  const named = /^(?:option|choice)\s+\(?([a-z])\b/i.exec(text) ?? /^[([]?([a-z])[).:\]]/i.exec(text);
  if (named) return named[1];
  const letters = text.match(/[a-z]/gi) ?? [];
  return letters.length === 1 ? letters[0] : undefined;
}

const wrappers = [
  /^\\boxed\s*\{(.*)\}$/s,
  /^\\(?:text|mathrm|operatorname)\s*\{(.*)\}$/s,
  /^\((.*)\)$/s,
  /^\[(.*)\]$/s,
  /^\{(.*)\}$/s,
  /^["'`“‘](.*)["'`”’]$/s,
];

/** Removes quotes, brackets, emphasis, TeX commands and final punctuation around a text. */
function withoutWrappers(text: string): string {
  let bare = splitWords(text).join(" ");
  for (;;) {
    const trimmed = strip(strip(bare, "*_`").replace(/[.;,]+$/, ""));
    const wrapper = wrappers.find((pattern) => pattern.test(trimmed));
    const inner = wrapper ? strip(wrapper.exec(trimmed)?.[1] ?? "") : trimmed;
    if (inner === bare) return bare;
    bare = inner;
  }
}
