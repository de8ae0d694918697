/**
 * Rewrites notations that only strict mode accepts to LaTeX that the parser knows.
 *
 * @module
 */

type Spelling = readonly [pattern: RegExp, replacement: string | ((...groups: string[]) => string)];

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ";
const SUPERSCRIPT_MEANING = "0123456789+-n";
const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

/** Unicode fractions: numerator, denominator and the character. */
const FRACTIONS: ReadonlyMap<string, string> = new Map(
  "12½ 13⅓ 23⅔ 14¼ 34¾ 15⅕ 25⅖ 35⅗ 45⅘ 16⅙ 56⅚ 18⅛ 38⅜ 58⅝ 78⅞"
    .split(" ")
    .map(([top = "", bottom = "", character = ""]) => [character, fraction(top, bottom)]),
);

/** A space in LaTeX or in plain text. */
const SPACE = String.raw`(?:\\[,;:! ]|\\quad\b|\\qquad\b|~|\s)`;

/** The replacements, in order. */
const SPELLINGS: readonly Spelling[] = [
  [/\s{2,}/g, " "],
  // A bound without a name, such as `< 7`, is not a number.
  [/^\s*(?=[<>≤≥≠]|\\(?:leq?|geq?|lt|gt|neq?)(?![a-zA-Z])|\\not\s*=)/, "x"],
  [/\\not\s*=/g, "\\neq "],
  [/\\bmod(?![a-zA-Z])/g, "\\mod "],
  [/\\text\{\s*(lcm|gcd)\s*\}/g, "\\operatorname{$1}"],
  [/\\text\{\s*(?:percent|per cent|pct)\s*\}/gi, "\\%"],
  [/\\text\{\s*infinity\s*\}/gi, "\\infty"],
  [/\\mathbb\{R\}\s*(?:-|\\backslash)\s*(?=\\\{)/g, "\\mathbb{R}\\setminus "],
  // Open intervals with reversed brackets: ]2,5[.
  [/^\s*\](?=[^[\]]*,)/, "("],
  [/\[(?=\s*$)(?<=,[^[\]]*\[)\s*$/, ")"],
  // A prime makes another name.
  [/([a-zA-Z])('{1,3})(?!\w)/g, (_, letter = "", primes = "") => `${letter}_{${"p".repeat(primes.length)}}`],
  [/\\degree\b|°/g, "^\\circ"],
  [/\\varnothing\b/g, "\\emptyset"],
  [/\\text\{\s*infinitely many[^{}]*\}/gi, "\\infty"],
  [/∞/g, "\\infty"],
  [/–/g, "-"],
  [/·/g, "\\cdot "],
  [/∫/g, "\\int "],
  [
    new RegExp(`[${SUPERSCRIPTS}]+`, "g"),
    (found) => `^{${translated(found, SUPERSCRIPTS, SUPERSCRIPT_MEANING)}}`,
  ],
  [
    new RegExp(`[${SUBSCRIPTS}]+`, "g"),
    (found) => `_{${translated(found, SUBSCRIPTS, SUPERSCRIPT_MEANING)}}`,
  ],
  [/√\s*(?:\(([^()]*)\)|(\d+|[a-zA-Z]))/g, (_, group = "", atom = "") => `\\sqrt{${group}${atom}}`],
  [new RegExp(`[${[...FRACTIONS.keys()].join("")}]`, "g"), (found) => FRACTIONS.get(found) ?? found],
  [/\\([dt]?binom)\s*(\w)\s*(\w)/g, "\\$1{$2}{$3}"],
  // Repeating decimals: 0.1\overline{6}, 0.\dot{3}, 0.(3).
  [
    /(?<!\d)(\d*)\.(\d*)(?:\\overline\{(\d+)\}|\\dot\{?(\d)\}?(?:(\d*)\\dot\{?(\d)\}?)?|\((\d+)\))/g,
    (_, whole = "", fixed = "", bar = "", first = "", middle = "", last = "", round = "") =>
      repeating(whole, fixed, bar || round || first + middle + last),
  ],
  // Thousands separated by spaces.
  [
    new RegExp(String.raw`(?<![\d.])\d{1,3}(?:${SPACE}\d{3})+(?!\d)`, "g"),
    (found) => found.replace(/\D/g, ""),
  ],
  [/(?<![\d.\w])(\d+)\s+(\d+)\s*\/\s*(\d+)(?!\d)/g, "$1\\frac{$2}{$3}"],
  [/(?<![a-zA-Z\d.])(\d+(?:\.\d+)?|\.\d+)[eE]([+-]?\d+)(?![\d.])/g, "$1\\times 10^{$2}"],
  [new RegExp(`(?<!\\\\|${SPACE})${SPACE}+$`), ""],
  [/(?<!\\)[.,;]\s*$/, ""],
];

/** Separates inequalities that hold at the same time. */
export const CONJUNCTION = "\\land";
const INEQUALITY = /[<>≤≥]|\\[lg](?:eq?|t)(?![a-zA-Z])/;
const AND = /,?\s*\\text\{\s*and\s*\}|(?:,\s*)?(?<![a-zA-Z\\])and(?![a-zA-Z])|\\wedge(?![a-zA-Z])/g;

/** Rewrites an answer to notations that the parser knows. */
export function conventional(answer: string): string {
  let text = INEQUALITY.test(answer) ? answer.replace(AND, ` ${CONJUNCTION} `) : answer;
  for (const [pattern, replacement] of SPELLINGS)
    text =
      typeof replacement === "string"
        ? text.replace(pattern, replacement)
        : text.replace(pattern, replacement);
  return text;
}

function translated(text: string, from: string, to: string): string {
  return [...text].map((character) => to[from.indexOf(character)]).join("");
}

function fraction(top: string, bottom: string): string {
  return `\\frac{${top}}{${bottom}}`;
}

function repeating(whole: string, fixed: string, period: string): string {
  const all = BigInt(`${whole}${fixed}${period}`);
  const start = BigInt(`0${whole}${fixed}`);
  return fraction(`${all - start}`, `${"9".repeat(period.length)}${"0".repeat(fixed.length)}`);
}
