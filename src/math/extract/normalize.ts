import { boxedContent } from "./boxes.ts";

/** Replacements that turn an answer into a form that the parser reads, in this order. */
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/\\mathrm\{T\}/g, "T"],
  [
    /\\left\s*\[\s*\\begin\{matrix\}([\s\S]*?)\\end\{matrix\}\s*\\right\s*\]/g,
    "\\begin{bmatrix}$1\\end{bmatrix}",
  ],
  [/\\m?(?:left|right)(?![a-zA-Z.])/g, ""],
  [/\((\w+)\)_\{(\w+)\}/g, "\\frac{($1)!}{(($1)-($2))!}"],
  [/\\!\s*|\\(?:text|mbox)\{\s*\}|\\?\$|['"]|\\displaystyle|\\mathrm\{th\}/g, ""],
  [/\\(?:mathrm|mathit|mathbf|textnormal|textbf|textit|textrm)\b\s*(?=\{)/g, "\\text"],
  [/\\text\{d\}(?=[a-zA-Z])/g, "d"],
  [/\\[dtc]frac(?![a-zA-Z])/g, "\\frac"],
  [/ \.(?=\d)/g, " 0."],
  [/\{\.(?=\d)/g, "{0."],
  [/\{,\}/g, ","],
  [/(?<!\\)(?:\\ \s*)+/g, " "],
  [/,?\s*\\text\{\s*(?:and|or)\s*\}/g, ","],
  [/(?:,\s*)?(?<![a-zA-Z\\])(?:and|or)(?![a-zA-Z])/g, ","],
  [/(?<!\\)inf(?:inity)?/g, "\\infty"],
  [/(?:\\ldots\s*)+/g, " "],
  [/\\text\{(?:percent|pct)(?:age|s)?\}|\s*(?<![a-zA-Z\\])(?:percent|pct)(?:age|s)?(?![a-zA-Z])/g, "\\%"],
  [/ sqrt/g, "\\\\sqrt"],
  [/~=/g, "\\approx"],
  [/[\n\t\r]+/g, " "],
];

/** Repairs of operators that are not valid LaTeX. */
const REPAIRS: readonly (readonly [RegExp, string])[] = [
  [/\^\s?\(([^()]*)\)/g, "^{$1}"],
  [/sqrt\s?\(([^()]*)\)/g, "\\sqrt{$1}"],
  [/\\frac\s?(\w)\s?(\w)/g, "\\frac{$1}{$2}"],
  [/\\frac\s?(\w)\s?\{/g, "\\frac{$1}{"],
  [/(\\frac\{[^{}]*\})(\d)(?!\})/g, "$1{$2}"],
  [/\\sqrt\s?(\w)/g, "\\sqrt{$1}"],
  [/\\log_\s?(\d)\s?(\d+)(?=\s|$)/g, "\\log_{$1}{$2}"],
  [/^\s*(-?\d+)\/(\d+)\s*$/, "\\frac{$1}{$2}"],
];

/**
 * Normalizes fonts, sizes, separators, units and common mistakes of an answer for the parser. A unit with a space after it
 * stays (upstream: `\\[ 5 \\text{ cm} \\]` is five times a symbol).
 */
export function normalizeAnswer(answer: string): string {
  let text = (boxedContent(answer, "all") ?? answer).trimStart().replace(/\s{3,}/g, " ");
  for (const [pattern, replacement] of REPLACEMENTS) text = text.replace(pattern, replacement);
  if (!text.includes("matrix}")) text = text.replace(/\\\\(?=[a-zA-Z])/g, "\\");
  text = removeUnits(text.trimStart());
  if (text.startsWith(".")) text = `0${text}`;
  if (text === "0.5") return "\\frac{1}{2}";
  for (const [pattern, replacement] of REPAIRS) text = text.replace(pattern, replacement);
  return text.trim();
}

/** Words that are removed after a number: units, and things that school problems count. */
const UNITS =
  `ab acre am apple are bc by c cc cent cm coin cube cubic d day decrease deg degree digit dm east edge excess feet ft g gain
gal gallon gm h hectare hour hr inch increase kg km kmh kmph l lb less liter litre loss lt m man mark men meter metre mile min minute
minw mm monkey month more mp mph mt mtr noon number o ohm per pie pm pound prime profit pure ratio rd rise rounds rs rupee s sec second
soldier sq square st student t th tile toy unit way west woman women yard year yr`
    .split(/\s+/)
    .sort((a, b) => b.length - a.length);

const TEXT_END = /\}(?:\^(?:\d|\{-?\d+\}))?$/;
const TRAILING_UNIT = new RegExp(`([\\d} ])(?:${UNITS.join("|")})(?:s|es)?$`);

/**
 * Removes the unit at the end of an answer: the text from the first `\text{`, if it is not at the start, then unit words. Unit
 * words are removed twice, so that `5 square meters` is 5.
 */
function removeUnits(answer: string): string {
  return withoutUnit(withoutUnit(withoutTrailingText(answer)));
}

function withoutTrailingText(answer: string): string {
  const start = answer.search(/\s{0,3}\\(?:text|mbox)\{/);
  if (start <= 0 || answer.slice(0, start).trim() === "") return answer;
  return TEXT_END.test(answer) ? answer.slice(0, start) : answer;
}

function withoutUnit(answer: string): string {
  return answer.replace(TRAILING_UNIT, "$1").trim();
}
