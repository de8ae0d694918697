import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { INLINE_LIMITS } from "./answer-checker.ts";
import { AnswerChecker, type Mode, verifyAnswer } from "./index.ts";

const equal = (gold: string, answer: string, mode: Mode = "compat") =>
  verifyAnswer(gold, `$\\boxed{${answer}}$`, { mode }).equal;

const number = fc.oneof(
  fc.integer({ min: -999, max: 999 }).map(String),
  fc
    .tuple(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: 99 }))
    .map(([a, b]) => `\\frac{${a}}{${b}}`),
  fc.integer({ min: 2, max: 50 }).map((root) => `\\sqrt{${root}}`),
  fc.tuple(fc.integer({ min: 1, max: 9 }), fc.constantFrom("\\pi", "x", "y")).map(([a, b]) => `${a}${b}`),
);
const operation = fc
  .tuple(number, fc.constantFrom("+", "-", "\\cdot "), number)
  .map((parts) => parts.join(""));
const expression = fc.oneof(
  number,
  operation,
  operation.map((sum) => `\\left(${sum}\\right)^2`),
);
const elements = fc.uniqueArray(fc.integer({ min: -50, max: 50 }), { minLength: 2, maxLength: 5 });

describe.each(["compat", "strict"] as const)("%s", (mode) => {
  it("is reflexive", () => {
    fc.assert(fc.property(expression, (text) => equal(text, text, mode)));
  });

  it("is symmetric for expressions", () => {
    fc.assert(fc.property(expression, expression, (a, b) => equal(a, b, mode) === equal(b, a, mode)));
  });

  it("does not depend on spaces, \\left and \\right, or the kind of fraction", () => {
    fc.assert(
      fc.property(expression, (text) => {
        const spaced = text.replaceAll(/([+-])/g, " $1 ");
        const plain = text.replaceAll("\\left", "").replaceAll("\\right", "");
        const display = text.replaceAll("\\frac", "\\dfrac");
        return [spaced, plain, display].every(
          (other) => equal(text, other, mode) && equal(other, text, mode),
        );
      }),
    );
  });

  it("does not depend on the order of a set", () => {
    fc.assert(
      fc.property(elements, (items) => {
        const set = `\\{${items.join(", ")}\\}`;
        return equal(set, `\\{${[...items].reverse().join(",")}\\}`, mode);
      }),
    );
  });

  it("never throws", () => {
    const latex = fc.constantFrom(
      "\\frac", "\\sqrt", "{", "}", "(", ")", "[", "]", "\\{", "\\}", "^", "_", "=", "<", "\\le", ",", ";", "\\pm", "|", "\\boxed", "$",
      "\\begin{pmatrix}", "\\end{pmatrix}", "&", "\\\\", "\\int", "\\sum", "\\lim", "!", "%", "\\%", "1", "0", "x", "i", "e", "\\infty", "\\text{a}", ".",
    ); // biome-ignore format: a table of tokens
    fc.assert(
      fc.property(fc.array(latex, { maxLength: 25 }), fc.array(latex, { maxLength: 25 }), (gold, answer) => {
        verifyAnswer(gold.join(" "), answer.join(""), { mode });
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.string(), fc.string(), (gold, answer) => void verifyAnswer(gold, answer, { mode })),
    );
  });
});

describe("hostile input", () => {
  const checker = new AnswerChecker({ maxThreads: 1 });
  afterAll(() => checker.close());

  const sum = (terms: number) =>
    Array.from({ length: terms }, (_, index) => `${index + 1}x^{${index}}`).join("+");
  it.each([
    ["a megabyte of LaTeX", "5", `$\\boxed{${"\\frac{1}{x}+".repeat(90_000)}1}$`],
    ["deep braces", "5", `$\\boxed{${"{".repeat(10_000)}5${"}".repeat(10_000)}}$`],
    ["deep fractions", "5", `$\\boxed{${"\\frac{1}{1+".repeat(5_000)}1${"}".repeat(5_000)}}$`],
    ["a tower of powers", "10", "$\\boxed{9^{9^{9^9}}}$"],
    ["a tower of powers on both sides", "9^{9^{9^9}}", "$\\boxed{9^{9^{9^9}}+1}$"],
    ["an integer of a million digits", "5", `\\boxed{${"7".repeat(1_000_000)}}`],
    ["a product of many sums", "5", `$\\boxed{${"(x+y+z+1)".repeat(300)}}$`],
    ["a high power of a sum", "x", "$\\boxed{(x+y+z+w+1)^{1000}}$"],
    ["long polynomials", `${sum(1_500)}+1`, `$\\boxed{${sum(1_500)}}$`],
    ["a large factorial", "3", "$\\boxed{100000000!}$"],
    ["a large sum", "3", "$\\boxed{\\sum_{k=1}^{10^{12}}k^k}$"],
    ["nested sums", "3", `$\\boxed{${"\\sum_{k=1}^{1000}".repeat(6)}1}$`],
    ["nested integrals", "3", `$\\boxed{${"\\int_0^1 ".repeat(6)}x${"dx".repeat(6)}}$`],
    ["many boxes", "5", "\\boxed{1} ".repeat(20_000)],
    ["many dollar signs", "5", "$ ".repeat(200_000)],
    ["a large set", "5", `$\\boxed{\\{${Array.from({ length: 5_000 }, (_, index) => index).join(",")}\\}}$`],
  ])("%s is bounded and not equal", async (_, gold, text) => {
    const before = process.memoryUsage();
    const verdict = await checker.check(gold, text);
    expect(verdict.equal).toBe(false);
    const grown = process.memoryUsage();
    expect(grown.rss - before.rss).toBeLessThan(400e6);
  });

  it("stops a pair after its time limit and continues with the next", async () => {
    const slow = new AnswerChecker({ maxThreads: 1, timeoutMs: 1 });
    try {
      const verdict = await slow.check(`${sum(1_500)}+1`, `$\\boxed{${sum(1_500)}}$`.padEnd(60_000));
      expect(verdict).toMatchObject({ equal: false, undecided: true });
      expect(verdict.problem).toBeDefined();
    } finally {
      await slow.close();
    }
    expect((await checker.check("5", "\\boxed{5}")).equal).toBe(true);
  });

  it("does not count the wait for a thread", async () => {
    const queued = new AnswerChecker({ maxThreads: 1, timeoutMs: 4_000 });
    try {
      const pairs = Array.from({ length: 16 }, () =>
        queued.check(`${sum(1_500)}+1`, `$\\boxed{${sum(1_500)}}$`),
      );
      expect((await Promise.all(pairs)).map(({ problem }) => problem)).toEqual(pairs.map(() => undefined));
    } finally {
      await queued.close();
    }
  });

  it("throws only if its signal is aborted", async () => {
    await expect(checker.check("5", "5", AbortSignal.abort())).rejects.toThrow("aborted");
  });
});

/** Answers with large numbers, long products, towers and nested operators: what costs much for few characters. */
const { hostile } = fc.letrec<{ hostile: string }>((tie) => {
  const size = fc.constantFrom(
    "2",
    "7",
    "99",
    "1000",
    "9999",
    "10^{9}",
    "10^{30}",
    "0.1",
    "1.000001",
    "-3",
    "10^{-20}",
  );
  const name = fc.constantFrom("x", "y", "n", "k", "i", "\\pi", "e", "\\sqrt{2}", "\\sqrt[3]{5}");
  const part = tie("hostile");
  const two = fc.tuple(part, part);
  const repeated = fc.tuple(part, fc.integer({ min: 1, max: 200 }), fc.constantFrom("", "+", "*", "-"));
  const powers = fc.array(name, { minLength: 1, maxLength: 150 });
  const large = fc.tuple(part, size);
  return {
    hostile: fc.oneof(
      { maxDepth: 3, depthIdentifier: "hostile" },
      fc.oneof(size, name),
      two.map(([a, b]) => `(${a})(${b})+${a}`),
      two.map(([a, b]) => `\\frac{${a}}{${b}}`),
      two.map(([a, b]) => `${a}=${b}`),
      two.map(([a, b]) => `\\{${a},${b}\\}`),
      two.map(([a, b]) => `(${a},${b}]\\cup[${b},${a})`),
      two.map(([a, b]) => `|${a}|\\pm ${b}`),
      two.map(([a, b]) => `\\begin{pmatrix}${a}&${b}\\\\${b}&${a}\\end{pmatrix}^{10}`),
      two.map(([a, b]) => `\\sin(${a})+\\log(${b})`),
      large.map(([a, b]) => `(${a})^{${b}}`),
      large.map(([a, b]) => `\\sqrt[${b}]{${a}}`),
      large.map(([a, b]) => `\\prod_{k=1}^{${b}}(${a}+k)`),
      large.map(([a, b]) => `\\sum_{k=1}^{${b}}\\frac{${a}}{k}`),
      large.map(([a, b]) => `\\int_0^{${b}} ${a} dx`),
      large.map(([a, b]) => `\\lim_{x\\to ${b}} ${a}`),
      large.map(([a, b]) => `\\binom{${b}}{${a}}`),
      part.map((a) => `(${a})!+\\Gamma{${a}}`),
      repeated.map(([a, count, sign]) => Array(count).fill(`(${a})`).join(sign)),
      powers.map((names) => names.map((base, index) => `${base}^{${index}}`).join("+")),
    ),
  };
});
const hostilePair = fc
  .tuple(hostile, hostile, fc.constantFrom("same", "plus one", "other"))
  .map(([answer, other, kind]) => [
    kind === "same" ? answer : kind === "plus one" ? `${answer}+1` : other,
    answer,
  ]) as fc.Arbitrary<[gold: string, answer: string]>;

/** CPU of the fastest of some tries: a garbage collection or a compilation in the first is not the comparison's. */
function cpuMs(limitMs: number, work: () => void): number {
  let fastest = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 4 && fastest > limitMs; tries++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    fastest = Math.min(fastest, (user + system) / 1000);
  }
  return fastest;
}

describe.each(["compat", "strict"] as const)("the work on a hostile pair, %s", (mode) => {
  // 16,000 such pairs took at most 22, 26 and 330 ms.
  it.each([
    ["on the loop stays below 50 ms of CPU", INLINE_LIMITS, 50],
    ["on the loop is bounded by steps alone", { steps: INLINE_LIMITS.steps }, 250],
    ["in a thread ends by itself", {}, 3_000],
  ])("%s", (_, limits, maxMs) => {
    fc.assert(
      fc.property(hostilePair, ([gold, answer]) => {
        const compare = () => verifyAnswer(gold, `$\\boxed{${answer}}$`, { mode, ...limits });
        expect(cpuMs(maxMs, compare)).toBeLessThan(maxMs);
      }),
      { numRuns: 300, seed: 28, endOnFailure: true },
    );
  });

  it("with a limit of steps always has the same result", () => {
    fc.assert(
      fc.property(hostilePair, ([gold, answer]) => {
        const compare = () => verifyAnswer(gold, `$\\boxed{${answer}}$`, { mode, steps: 4_000 });
        expect(compare()).toEqual(compare());
      }),
      { numRuns: 200, seed: 29, endOnFailure: true },
    );
  });
});
