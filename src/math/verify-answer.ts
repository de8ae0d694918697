import { Budget, DEFAULT_STEPS, isExhausted, isGivenUp, withBudget } from "./budget.ts";
import { compareNodes } from "./compare/compare.ts";
import type { ComparisonResult, ValueComparison } from "./compare/compare-values.ts";
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
  /** A limit in milliseconds as well. With it, the result of a hard pair depends on the machine. */
  readonly timeoutMs?: number;
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
/** Steps for the texts of the result, as a share of those for the comparison. */
const PRINT_SHARE = 0.25;

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
  const { mode = "compat", steps = DEFAULT_STEPS, timeoutMs } = options;
  if (mode !== "compat" && mode !== "strict")
    throw new TypeError(`The mode must be 'compat' or 'strict', not '${String(mode)}'.`);
  const budget = new Budget({ steps, timeoutMs });
  const { decision, expected, given } = withBudget(budget, () => compareTexts(gold, text, mode));
  // The result names both answers, even if their comparison took all steps.
  const printing = new Budget({ steps: steps * PRINT_SHARE, timeoutMs });
  const read = (answer: Extracted) => withBudget(printing, () => readAnswer(answer));
  return {
    ...decision,
    undecided: decision.rule === CANNOT_TELL,
    gold: read(expected),
    answer: read(given),
    exhausted: budget.exhausted || printing.exhausted,
  };
}

function compareTexts(gold: string, text: string, mode: Mode) {
  const expected = guarded(() => extract(boxedGold(gold), "latex", mode));
  const hasGold = expected.node !== undefined || expected.text !== undefined;
  const given = hasGold ? guarded(() => extract(text, "all", mode)) : {};
  return { decision: decide(expected, given, { mode }), expected, given };
}

function decide(gold: Extracted, given: Extracted, comparison: ValueComparison): ComparisonResult {
  if (gold.node === undefined && gold.text === undefined)
    return { equal: false, rule: "the expected answer cannot be read" };
  if (given.node === undefined && given.text === undefined) return { equal: false, rule: "no answer found" };
  const sameText = gold.text !== undefined && gold.text === given.text;
  if (!gold.node || !given.node) {
    if (sameText) return { equal: true, rule: "the same text" };
    return {
      equal: false,
      rule: isExhausted() ? CANNOT_TELL : "an answer that cannot be read",
    };
  }
  const decision = compareReadings(gold.node, given.node, comparison);
  // In strict mode the text counts only if the values could not be compared, because "7%" has the text 7.
  const textDecides = sameText && (comparison.mode === "compat" || decision.rule === CANNOT_TELL);
  return !decision.equal && textDecides ? { equal: true, rule: "the same text" } : decision;
}

function compareReadings(gold: Node, given: Node, comparison: ValueComparison): ComparisonResult {
  let decision: ComparisonResult = { equal: false, rule: CANNOT_TELL };
  try {
    const [golds, givens] =
      comparison.mode === "strict" ? [strictReadings(gold), strictReadings(given)] : [[gold], [given]];
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
