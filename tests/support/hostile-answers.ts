/**
 * Answers that take long to read or compare: nested powers, factorials, long numbers, deep nesting, long sums, fractions without common
 * divisors, large sets, matrices, and texts that are slow to search.
 *
 * @module
 */
import fc from "fast-check";

/** Longer answers are not parsed. */
const MAX_CHARS = 19_000;

const times = (part: string, count: number) => part.repeat(count);
const series = (count: number, part: (index: number) => unknown, separator = "") =>
  Array.from({ length: count }, (_, index) => part(index)).join(separator);
const nested = (open: string, close: string, depth: number, inner = "x") =>
  `${times(open, depth)}${inner}${times(close, depth)}`;
const matrix = (size: number, entry: (row: number, column: number) => unknown, kind = "pmatrix") =>
  `\\begin{${kind}}${series(size, (row) => series(size, (column) => entry(row, column), "&"), "\\\\")}\\end{${kind}}`;
const digits = (count: number) => series(count, (index) => ((index + 1) * 7919) % 10);

/** Answers by what is large about them. */
export const hostileAnswers: Readonly<Record<string, string>> = {
  "a product of polynomials": "\\prod_{k=1}^{10000} (i\\cdot x+k)",
  "the gamma function of a product": "\\Gamma{\\prod_{k=1}^{10000} (i\\cdot x+k)}",
  "a long product": "\\prod_{k=1}^{1000} (n+k)",
  "a harmonic sum": "\\sum_{k=1}^{9999} \\frac{1}{k}x",
  "many factors": `${times("x*", 9_000)}x`,
  "many quotients": `1${times("/x", 9_000)}`,
  "many numbers": `${times("2*", 9_000)}2`,
  "factorials in a sum": "\\sum_{k=1}^{2000} k!",
  "a factorial of a factorial": "((3!)!)!",
  "large binomial coefficients": series(200, (index) => `\\binom{x}{${1990 - index}}`, "+"),
  "binomial coefficients in a sum": "\\sum_{k=1}^{2000}\\binom{x}{k}",
  "the divisor of large numbers": "\\gcd(2^{39000},3^{24000})",
  "the divisor of many numbers": `\\gcd(${series(300, (index) => `${index + 2}^{5000}`, ",")})`,
  "the multiple of many numbers": `\\operatorname{lcm}(${series(2_000, (index) => index + 1, ",")})`,
  "fractions without a common divisor": series(2_000, (index) => `-\\frac{1}{${index + 1}}`),
  "long fractions": series(90, (index) => `\\frac{${digits(90 - (index % 7))}}{${digits(89 - (index % 5))}}`, "+"),
  "a tower of powers": "2^{2^{2^{2^{2^2}}}}",
  "large powers": series(400, (index) => `(${index + 2})^{${9_000 - index}}`, "+"),
  "large powers of sums": series(600, (index) => `(x+${index})^{${900 + index}}`, "+"),
  "roots of large numbers": series(500, (index) => `\\sqrt[63]{${index + 2}^{5000}}`, "+"),
  "a long number": digits(9_000),
  "the power of a long number": `${digits(9_000)}^{3}`,
  "a long decimal": `0.${digits(9_000)}`,
  "deep parentheses": nested("(", ")", 190),
  "too deep parentheses": nested("(", ")", 9_000),
  "deep fractions": nested("\\frac{1}{1+", "}", 190),
  "deep roots": nested("\\sqrt{1+", "}", 190),
  "deep functions": nested("\\sin(x+", ")", 190),
  "deep absolute values": nested("|x+", "|", 150),
  "deep sets": nested("\\{", "\\}", 190, "1"),
  "deep tuples": nested("(1,", ")", 190, "1"),
  "nested sums": `${times("\\sum_{k=1}^{100}", 100)}k`,
  "many signs": `${times("-", 9_000)}1`,
  "a sum of many names": series(2_000, (index) => `a_{${index}}`, "+"),
  "a series over many names": `\\sum_{k=1}^{10000}(${series(1_500, (index) => `a_{${index}}`, "+")})`,
  "a long polynomial": series(2_500, (index) => `x^{${index}}`, "+"),
  "many sines": series(1_500, (index) => `\\sin(${index}x)`, "+"),
  "many logarithms": series(1_500, (index) => `\\ln(${index + 2})`, "+"),
  "large powers of e": "e^{e^{e^{e^5}}}",
  "a large set": `\\{${series(3_500, (index) => index, ",")}\\}`,
  "a set of expressions": `\\{${series(199, (index) => `\\sqrt{${index}}+x`, ",")}\\}`,
  "many tuples": series(1_500, (index) => `(${index},${index + 1})`, ","),
  "a union of intervals": series(1_100, (index) => `(${2 * index},${2 * index + 1})`, "\\cup "),
  "a union of sets": series(1_300, (index) => `\\{${index}\\}`, "\\cup "),
  "many groups": series(1_800, (index) => `${index},${index + 1}`, ";"),
  "many equations": series(1_200, (index) => `x_{${index}}=${index}`, ","),
  "a large matrix": matrix(60, (row, column) => row * column),
  "the power of a matrix": `${matrix(2, (row, column) => `x+${row + column}`)}^{16}`,
  "a product of matrices": times(matrix(2, (row, column) => `x+${row + column}`), 350),
  "the inverse of a matrix": `${matrix(4, (row, column) => `x^{${row}}+${column}`)}^{-16}`,
  "a determinant of determinants": matrix(
    6,
    () => matrix(5, (row, column) => `x+${row * column}`, "vmatrix"),
    "vmatrix",
  ),
  "many derivatives": `${times("\\frac{d}{dx}", 150)}x^{200}`,
  "the derivative of a product": `\\frac{d}{dx}(${times("\\sin(x)", 1_200)})`,
  "nested integrals": `${times("\\int_0^1 ", 6)}x${times("dx", 6)}`,
  "nested series": "\\sum_{k=1}^{\\infty}\\sum_{j=1}^{\\infty}\\frac{1}{k^2+j^2}",
  "an integral of a product": `\\int ${times("(x+1)", 38)}dx`,
  "an inequality with many zeros": `${series(38, (index) => `(x-${index + 1})`)}>0`,
  "an inequality of sines": `${series(200, (index) => `\\sin(${index}x)`, "+")}>0`,
  "a chain of inequalities": series(2_000, (index) => index, "<x<"),
  "many absolute values": `${series(300, (index) => `|x-${index}|`, "+")}<5`,
  "many floors": series(500, (index) => `\\lfloor x+\\frac{1}{${index + 1}}\\rfloor`, "+"),
  "a maximum of many": `\\max(${series(2_800, (index) => `x+${index}`, ",")})`,
  "open parentheses": times("(", MAX_CHARS),
  "open bars": times("|x", 9_000),
  "open matrices": times("\\left[\\begin{matrix}", 850),
  "commas": times(",", MAX_CHARS),
  "a list of ones": times("1,", 9_000),
  "spaces": times("\\ ", 9_000),
  "thin spaces": times("\\,", 9_000),
  "dots": times("\\ldots", 2_800),
  "signs on both sides": times("1\\pm ", 3_000),
  "a long period": `0.\\overline{${digits(9_000)}}`,
}; // biome-ignore format: a table

/** Whole texts of models. */
export const hostileTexts: Readonly<Record<string, string>> = {
  "open brackets": `${times(" [", 24_000)}] `,
  "dollar signs": times("$ ", 24_000),
  "escaped dollar signs": times("$\\$", 16_000),
  "words before an answer": times("answer ", 7_000),
  "many answers": times("answer: $x$ ", 4_000),
  "many final answers": times("final answer is $x^2$. I hope ", 1_600),
  "many boxes": times("\\boxed{1} ", 4_900),
  "open boxes": times("\\boxed{", 7_000),
  "unreadable boxes": times("\\boxed{\\unknown} ", 2_900),
  "long unreadable answers": times(`$${times("\\unknown x+", 800)}$ `, 5),
  "many numbers": times("1 ", 24_000),
  "a long sum": `${times("1 + ", 12_000)}1`,
  "open arithmetic": times("((((1+", 8_000),
  "many equals signs": `answer ${times("=", 49_000)}`,
  "open LaTeX": times("\\(", 24_000),
  "backslashes": times("\\", 49_000),
  "unreadable parentheses": times(`$\\boxed{${times("(", 180)}$ `, 250),
}; // biome-ignore format: a table

const { expression } = fc.letrec<{ expression: string; atom: string }>((tie) => {
  const part = tie("expression");
  const small = fc.integer({ min: 0, max: 400 });
  const list = (separator: string) =>
    fc.array(part, { minLength: 2, maxLength: 12 }).map((parts) => parts.join(separator));
  const unary = (format: (inner: string) => string) => part.map(format);
  const binary = (format: (a: string, b: string) => string) =>
    fc.tuple(part, fc.oneof(part, small.map(String))).map(([a, b]) => format(a, b));
  return {
    atom: fc.oneof(
      small.map(String),
      fc.constantFrom("x", "n", "k", "\\pi", "e", "i"),
      small.map((index) => `a_{${index}}`),
      fc.integer({ min: 1, max: 60 }).map(digits),
      fc.integer({ min: 1, max: 20 }).map((count) => `0.${digits(count)}`),
      fc.integer({ min: 20, max: 300 }).map((count) => series(count, (index) => `${index}x`, "+")),
    ),
    expression: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      tie("atom"),
      list("+"),
      list("-"),
      list("\\cdot "),
      binary((a, b) => `\\frac{${a}}{${b}}`),
      binary((a, b) => `(${a})^{${b}}`),
      fc.tuple(part, small).map(([a, n]) => `\\sqrt[${n}]{${a}}`),
      unary((a) => `(${a})!`),
      binary((a, b) => `\\binom{${a}}{${b}}`),
      binary((a, b) => `\\sum_{k=1}^{${b}}(${a}+k)`),
      binary((a, b) => `\\prod_{k=1}^{${b}}(${a}+k)`),
      binary((a, b) => `\\int_0^{${b}} ${a} dx`),
      unary((a) => `\\frac{d}{dx}(${a})`),
      unary((a) => `\\lim_{x\\to 0}(${a})`),
      unary((a) => `\\lfloor |${a}|\\rfloor`),
      binary((a, b) => `\\gcd(${a},${b})`),
      unary((a) => `\\arctan(\\ln(${a}))`),
      fc
        .tuple(fc.array(part, { minLength: 4, maxLength: 4 }), fc.integer({ min: -6, max: 16 }))
        .map(([entries, power]) => `${matrix(2, (row, column) => entries[2 * row + column])}^{${power}}`),
    ),
  };
});

const answer = fc.oneof(
  expression,
  fc.array(expression, { minLength: 2, maxLength: 30 }).map((items) => `\\{${items.join(",")}\\}`),
  fc.array(expression, { minLength: 2, maxLength: 30 }).map((items) => items.join(";")),
  fc.tuple(expression, fc.constantFrom("=", "<", "\\le "), expression).map((sides) => sides.join("")),
  fc.tuple(expression, expression).map(([from, to]) => `[${from},${to})\\cup(0,1)`),
);

/** An expected and a given answer, which are the same, almost the same, or unrelated. */
export const hostilePair = fc
  .tuple(answer, answer, fc.constantFrom("same", "almost", "other"))
  .map(([a, b, kind]) => ({
    gold: (kind === "same" ? a : kind === "almost" ? `${a}+0` : b).slice(0, MAX_CHARS),
    answer: a.slice(0, MAX_CHARS),
  }));
