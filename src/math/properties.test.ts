import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
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
