import { Budget, BudgetError, DEFAULT_STEPS } from "./budget.ts";
import { compareNodes } from "./compare/compare.ts";
import type { Comparison, Verdict } from "./compare/compare-values.ts";
import { strictReadings } from "./compare/strict-readings.ts";
import type { Node } from "./expression/node.ts";
import { printNode } from "./expression/print.ts";
import { type Extracted, extract } from "./extract/extract.ts";

/** `compat` decides as math-verify 0.8 does, its mistakes included; `strict` as mathematics does. */
export type Mode = "compat" | "strict";

export interface VerifyOptions {
  readonly mode?: Mode;
  /** How much work may be done; the same number always gives the same outcome. */
  readonly steps?: number;
}

export interface AnswerVerdict {
  readonly equal: boolean;
  /** What decided, in a few words. */
  readonly rule: string;
  /** True where the pair could not be compared: not equal, but not known to differ either. */
  readonly undecided: boolean;
  /** True where more steps might decide it. */
  readonly exhausted: boolean;
  readonly gold: ReadAnswer;
  readonly answer: ReadAnswer;
  /** Why the work was given up, where it was. */
  readonly problem?: string;
}

export interface ReadAnswer {
  /** The parsed answer in SymPy's notation, or null. */
  readonly parsed: string | null;
  /** The normalised text of the place it was read from, or null. */
  readonly text: string | null;
  /** Why it could not be read. */
  readonly problem: string | null;
}

const NOTHING_READ: ReadAnswer = { parsed: null, text: null, problem: null };
const CANNOT_TELL = "cannot tell";

/** The verdict on a pair that was given up. */
export const UNDECIDED: AnswerVerdict = {
  equal: false,
  rule: CANNOT_TELL,
  undecided: true,
  exhausted: true,
  gold: NOTHING_READ,
  answer: NOTHING_READ,
};

/**
 * Compares the expected answer with what a model wrote: finds the answer in the text, reads both, and says whether they are the same.
 * Hostile input ends as `undecided`; no answer makes it throw.
 *
 * @example
 * verifyAnswer("\\frac{1}{2}", "The answer is $\\boxed{0.5}$.").equal // true
 */
export function verifyAnswer(gold: string, text: string, options: VerifyOptions = {}): AnswerVerdict {
  const { mode = "compat", steps = DEFAULT_STEPS } = options;
  if (mode !== "compat" && mode !== "strict")
    throw new TypeError(`The mode must be 'compat' or 'strict', not '${String(mode)}'.`);
  const budget = new Budget(steps);
  const expected = guarded(() => extract(boxedGold(gold), "latex", budget, mode));
  const hasGold = expected.node !== undefined || expected.text !== undefined;
  const given = hasGold ? guarded(() => extract(text, "all", budget, mode)) : {};
  const decision = decide(expected, given, { mode, budget });
  return {
    ...decision,
    undecided: decision.rule === CANNOT_TELL,
    exhausted: budget.exhausted,
    gold: readAnswer(expected),
    answer: readAnswer(given),
  };
}

function decide(gold: Extracted, given: Extracted, comparison: Comparison): Verdict {
  if (gold.node === undefined && gold.text === undefined)
    return { equal: false, rule: "the expected answer cannot be read" };
  if (given.node === undefined && given.text === undefined) return { equal: false, rule: "no answer found" };
  const sameText = gold.text !== undefined && gold.text === given.text;
  if (!gold.node || !given.node) {
    if (sameText) return { equal: true, rule: "the same text" };
    return {
      equal: false,
      rule: comparison.budget.exhausted ? CANNOT_TELL : "an answer that cannot be read",
    };
  }
  const decision = compareReadings(gold.node, given.node, comparison);
  // In strict mode the text counts only where the values could not be compared: "7%" was read from the text 7.
  const textDecides = sameText && (comparison.mode === "compat" || decision.rule === CANNOT_TELL);
  return !decision.equal && textDecides ? { equal: true, rule: "the same text" } : decision;
}

function compareReadings(gold: Node, given: Node, comparison: Comparison): Verdict {
  const [golds, givens] =
    comparison.mode === "strict" ? [strictReadings(gold), strictReadings(given)] : [[gold], [given]];
  let decision: Verdict = { equal: false, rule: CANNOT_TELL };
  try {
    for (const g of golds) {
      for (const a of givens) {
        decision = compareNodes(g, a, comparison);
        if (decision.equal) return decision;
      }
    }
    return decision;
  } catch (error) {
    if (isGivenUp(error)) return { equal: false, rule: CANNOT_TELL };
    throw error;
  }
}

/** Too much work, numbers too large, or nesting too deep for the stack. */
function isGivenUp(error: unknown): boolean {
  return error instanceof BudgetError || error instanceof RangeError;
}

function guarded(read: () => Extracted): Extracted {
  try {
    return read();
  } catch (error) {
    if (isGivenUp(error)) return { problem: (error as Error).message };
    throw error;
  }
}

/** The expected answer without one pair of outer LaTeX marks, in a box. */
function boxedGold(gold: string): string {
  let text = gold.trim();
  if (text.startsWith("\\(") && text.endsWith("\\)")) text = text.slice(2, -2);
  if (text.length > 1 && text.startsWith("$") && text.endsWith("$")) text = text.slice(1, -1);
  return `\\boxed{${text}}`;
}

function readAnswer({ node, text, problem }: Extracted): ReadAnswer {
  return {
    parsed: node ? printed(node) : null,
    text: text ?? null,
    problem: (node ? undefined : problem) ?? null,
  };
}

function printed(node: Node): string | null {
  try {
    return printNode(node);
  } catch (error) {
    if (isGivenUp(error)) return null;
    throw error;
  }
}
