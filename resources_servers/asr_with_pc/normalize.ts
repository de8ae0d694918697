import { numbersAsDigits } from "./numbers.ts";
import { americanSpelling } from "./spelling.ts";

const WORD = "[\\p{L}\\p{N}_]";
const START = `(?<!${WORD})`;
const END = `(?!${WORD})`;
const whole = (pattern: string) => new RegExp(`${START}(?:${pattern})${END}`, "gu");

const FILLERS = whole("hmm|mm|mhm|mmm|uh|um");
/** Whole words, each on its own; the longer forms come before the endings below. */
const SHORT_FORMS = `won't will not/can't can not/let's let us/ain't aint/y'all you all/wanna want to/kinda kind of/sorta sort of
/dunno do not know/gotta got to/gonna going to/i'ma i am going to/imma i am going to/woulda would have/coulda could have
/shoulda should have/cause because/ma'am madam`;
const TITLES = `mr mister/mrs missus/st saint/dr doctor/prof professor/capt captain/gov governor/ald alderman/gen general/sen senator
/rep representative/pres president/rev reverend/hon honorable/asst assistant/assoc associate/lt lieutenant/col colonel/jr junior
/sr senior/esq esquire`;
/** Ends of words; the order counts. */
const ENDINGS = `'d been= had been/'s been= has been/'d gone= had gone/'s gone= has gone/'d done= had done/'s got= has got/n't= not/'re= are
/'s= is/'d= would/'ll= will/'t= not/'ve= have/'m= am`;

const replacements: [RegExp, string][] = [
  ...entries(SHORT_FORMS, " ").map(([from, to]): [RegExp, string] => [whole(from), to]),
  ...entries(TITLES, " ").map(([from, to]): [RegExp, string] => [whole(from), `${to} `]),
  ...entries(ENDINGS, "=").map(([from, to]): [RegExp, string] => [new RegExp(`${from}${END}`, "gu"), to]),
];

function entries(list: string, separator: string): [string, string][] {
  return list.split("/").map((entry) => {
    const text = entry.replace("\n", "");
    const at = text.indexOf(separator);
    return [text.slice(0, at), text.slice(at + 1)];
  });
}

const KEPT = ".%$¢€£";
/** Letters that Unicode does not split into a letter and a mark. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ œ: "oe", Œ: "OE", ø: "o", Ø: "O", æ: "ae", Æ: "AE", ß: "ss", ẞ: "SS", đ: "d", Đ: "D", ð: "d", Ð: "D" },
  ...{ þ: "th", Þ: "th", ł: "l", Ł: "L" },
};

const SPECIAL = new RegExp(`[\\p{M}\\p{S}\\p{P}${Object.keys(LETTERS).join("")}]`, "gu");

function withoutSymbols(text: string): string {
  return text.normalize("NFKD").replace(SPECIAL, (letter) => {
    if (KEPT.includes(letter)) return letter;
    return LETTERS[letter] ?? (/\p{Mn}/u.test(letter) ? "" : " ");
  });
}

/** Removes what is in brackets. A pattern would read a text of open brackets again from each of them. */
function withoutBrackets(text: string, open: RegExp, close: RegExp, least: number): string {
  let kept = "";
  for (let at = 0; ; ) {
    const start = text.slice(at).search(open);
    if (start < 0) return kept + text.slice(at);
    const inside = at + start + 1 + least;
    const length = text.slice(inside).search(close);
    if (length < 0) return kept + text.slice(at);
    kept += text.slice(at, at + start);
    at = inside + length + 1;
  }
}

/** English text as the word error rate compares it: the rules of Whisper's normaliser. */
export function normalizeEnglish(original: string): string {
  let text = withoutBrackets(original.toLowerCase(), /[<[]/, /[>\]]/, 0);
  text = withoutBrackets(text, /\((?!\))/, /\)/, 1)
    .replace(FILLERS, "")
    .replace(/(?<!\s)\s+'/g, "'");
  for (const [from, to] of replacements) text = text.replace(from, to);
  text = text.replace(/(\d),(\d)/g, "$1$2").replace(/\.([^0-9]|$)/g, " $1");
  return americanSpelling(numbersAsDigits(withoutSymbols(text)))
    .replace(/[.$¢€£]([^0-9])/g, " $1")
    .replace(/([^0-9])%/g, "$1 ")
    .replace(/\s+/g, " ");
}
