import { boxedContent } from "./boxes.ts";

/** Replacements on the way from an answer as written to one the parser reads, in this order. */
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/\\mathrm\{T\}/g, "T"],
  [
    /\\left\s*\[\s*\\begin\{matrix\}([\s\S]*?)\\end\{matrix\}\s*\\right\s*\]/g,
    "\\begin{bmatrix}$1\\end{bmatrix}",
  ],
  [/\\m?(?:left|right)(?![a-zA-Z.])/g, ""],
  [/\((\w+)\)_\{(\w+)\}/g, "\\frac{($1)!}{(($1)-($2))!}"],
  [/\\!|\\(?:text|mbox)\{\s*\}|\\?\$|['"]|\\displaystyle|\\mathrm\{th\}/g, ""],
  [/\\(?:mathrm|mathit|mathbf|textnormal|textbf|textit|textrm)\b\s*(?=\{)/g, "\\text"],
  [/\\text\{d\}(?=[a-zA-Z])/g, "d"],
  [/\\[dtc]frac(?![a-zA-Z])/g, "\\frac"],
  [/ \.(?=\d)/g, " 0."],
  [/\{\.(?=\d)/g, "{0."],
  [/\{,\}/g, ","],
  [/,?\s*\\text\{\s*(?:and|or)\s*\}/g, ","],
  [/(?:,\s*)?(?<![a-zA-Z\\])(?:and|or)(?![a-zA-Z])/g, ","],
  [/(?<!\\)\\ /g, " "],
  [/(?<!\\)inf(?:inity)?/g, "\\infty"],
  [/\\ldots/g, " "],
  [/\\text\{(?:percent|pct)(?:age|s)?\}|\s*(?<![a-zA-Z\\])(?:percent|pct)(?:age|s)?(?![a-zA-Z])/g, "\\%"],
  [/ sqrt/g, "\\\\sqrt"],
  [/~=/g, "\\approx"],
  [/[\n\t\r]+/g, " "],
];

/** Operators that models write in a form LaTeX does not have. */
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
 * Brings an answer into the form the parser reads: fonts, sizes, separators, units and common slips are evened out. A unit with
 * a space behind it stays (upstream: `\\[ 5 \\text{ cm} \\]` is five times a symbol).
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

/** Words that are left out behind a number: units, and things that are counted in school problems. */
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
 * An answer without the unit at its end. A text from the first `\text{` on is left out when something stands before it; then unit words,
 * twice, so that `5 square meters` is 5.
 */
function removeUnits(answer: string): string {
  const text = withoutTrailingText(answer);
  return withoutUnit(withoutUnit(text));
}

function withoutTrailingText(answer: string): string {
  const start = answer.search(/\s{0,3}\\(?:text|mbox)\{/);
  if (start <= 0 || answer.slice(0, start).trim() === "") return answer;
  return TEXT_END.test(answer) ? answer.slice(0, start) : answer;
}

function withoutUnit(answer: string): string {
  return answer.replace(TRAILING_UNIT, "$1").trim();
}
