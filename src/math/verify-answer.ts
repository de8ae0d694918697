import { Budget, BudgetError, DEFAULT_STEPS } from "./budget.ts";
import { compareNodes } from "./compare.ts";
import type { Comparison, Verdict } from "./compare-values.ts";
import { type Extracted, extract } from "./extract.ts";
import type { Mode } from "./mode.ts";
import type { Node } from "./node.ts";
import { printNode } from "./print.ts";
import { strictReadings } from "./strict-readings.ts";

export interface VerifyOptions {
  readonly mode?: Mode;
  /** How much work may be done; the same number always gives the same outcome. */
  readonly steps?: number;
}

export interface AnswerVerdict {
  readonly equal: boolean;
  /** What decided, in a few words. */
  readonly rule: string;
  /** True where the work was given up or the values could not be compared: not equal, but not known to differ either. */
  readonly undecided: boolean;
  readonly gold: ReadAnswer;
  readonly answer: ReadAnswer;
}

export interface ReadAnswer {
  /** The parsed answer in SymPy's notation, or null. */
  readonly parsed: string | null;
  /** The normalised text of the place it was read from, or null. */
  readonly text: string | null;
  /** Why it could not be read. */
  readonly problem: string | null;
}

/**
 * Compares the expected answer with what a model wrote: finds the answer in the text, reads both, and says whether they are the same.
 * Never throws; hostile input ends as `undecided`.
 *
 * @example
 * verifyAnswer("\\frac{1}{2}", "The answer is $\\boxed{0.5}$.").equal // true
 */
export function verifyAnswer(gold: string, text: string, options: VerifyOptions = {}): AnswerVerdict {
  const { mode = "compat", steps = DEFAULT_STEPS } = options;
  const budget = new Budget(steps);
  const expected = guarded(() => extract(boxedGold(gold), "latex", budget, mode));
  const given = expected.node || expected.text ? guarded(() => extract(text, "all", budget, mode)) : {};
  const decision = decide(expected, given, mode, budget);
  return { ...decision, undecided: decision.rule === UNDECIDED, gold: readAnswer(expected), answer: readAnswer(given) };
}

const UNDECIDED = "cannot tell";

function decide(gold: Extracted, given: Extracted, mode: Mode, budget: Budget): { equal: boolean; rule: string } {
  if (gold.node === undefined && gold.text === undefined) return { equal: false, rule: "the expected answer cannot be read" };
  if (given.node === undefined && given.text === undefined) return { equal: false, rule: "no answer found" };
  const sameText = gold.text !== undefined && gold.text === given.text;
  if (!gold.node || !given.node) return { equal: sameText, rule: sameText ? "the same text" : "an answer that cannot be read" };
  const decision = compareGuarded(gold, given, mode, budget);
  return !decision.equal && sameText ? { equal: true, rule: "the same text" } : decision;
}

function compareGuarded(gold: Extracted, given: Extracted, mode: Mode, budget: Budget): { equal: boolean; rule: string } {
  try {
    if (!gold.node || !given.node) return { equal: false, rule: UNDECIDED };
    return compareReadings(gold.node, given.node, { mode, budget });
  } catch (error) {
    if (isGivenUp(error)) return { equal: false, rule: UNDECIDED };
    throw error;
  }
}

function compareReadings(gold: Node, given: Node, comparison: Comparison): Verdict {
  if (comparison.mode === "compat") return compareNodes(gold, given, comparison);
  let last: Verdict | undefined;
  for (const g of strictReadings(gold)) {
    for (const a of strictReadings(given)) {
      last = compareNodes(g, a, comparison);
      if (last.equal) return last;
    }
  }
  return last ?? { equal: false, rule: UNDECIDED };
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
export function boxedGold(gold: string): string {
  let text = gold.trim();
  if (text.startsWith("\\(") && text.endsWith("\\)")) text = text.slice(2, -2);
  if (text.length > 1 && text.startsWith("$") && text.endsWith("$")) text = text.slice(1, -1);
  return `\\boxed{${text}}`;
}

function readAnswer({ node, text, problem }: Extracted): ReadAnswer {
  return { parsed: node ? printNode(node) : null, text: text ?? null, problem: (node ? undefined : problem) ?? null };
}
