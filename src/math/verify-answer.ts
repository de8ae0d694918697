import { Budget, DEFAULT_STEPS, isGivenUp } from "./budget.ts";
import { compareNodes } from "./compare/compare.ts";
import type { Comparison, Verdict } from "./compare/compare-values.ts";
import { strictReadings } from "./compare/strict-readings.ts";
import type { Node } from "./expression/node.ts";
import { printNode } from "./expression/print.ts";
import { type Extracted, extract } from "./extract/extract.ts";

/** `compat` decides like math-verify 0.8, including its mistakes. `strict` decides mathematically. */
export type Mode = "compat" | "strict";

export interface VerifyOptions {
  readonly mode?: Mode;
  /** The limit of the work. The same limit always gives the same result. */
  readonly steps?: number;
}

export interface AnswerVerdict {
  readonly equal: boolean;
  /** The rule that decided. */
  readonly rule: string;
  /** True if the pair could not be compared, so that it is not known to differ. */
  readonly undecided: boolean;
  /** True if more steps might decide the pair. */
  readonly exhausted: boolean;
  readonly gold: ReadAnswer;
  readonly answer: ReadAnswer;
  /** Why the work was stopped. */
  readonly problem?: string;
}

export interface ReadAnswer {
  /** The parsed answer in SymPy's notation, or null. */
  readonly parsed: string | null;
  /** The normalized text of the answer, or null. */
  readonly text: string | null;
  /** Why it could not be read. */
  readonly problem: string | null;
}

const NOTHING_READ: ReadAnswer = { parsed: null, text: null, problem: null };
const CANNOT_TELL = "cannot tell";

/** The verdict if the work was stopped. */
export const UNDECIDED: AnswerVerdict = {
  equal: false,
  rule: CANNOT_TELL,
  undecided: true,
  exhausted: true,
  gold: NOTHING_READ,
  answer: NOTHING_READ,
};

/**
 * Compares the expected answer with the text of a model: finds the answer in the text, parses both and compares them. Hostile
 * input is `undecided`; no input makes it throw.
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
  // In strict mode the text counts only if the values could not be compared, because "7%" has the text 7.
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

function guarded(read: () => Extracted): Extracted {
  try {
    return read();
  } catch (error) {
    if (isGivenUp(error)) return { problem: (error as Error).message };
    throw error;
  }
}

/** The expected answer in a box, without one pair of outer LaTeX delimiters. */
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
