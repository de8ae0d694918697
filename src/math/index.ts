/**
 * Parses and compares mathematical answers in LaTeX and plain text, without Python.
 *
 * @module
 */
import { Budget, withBudget } from "./budget.ts";
import type { Node } from "./expression/node.ts";
import { printNode as print } from "./expression/print.ts";
import { extract } from "./extract/extract.ts";
import { normalizeAnswer } from "./extract/normalize.ts";
import { parseAnswer } from "./parse/parser.ts";
import type { Mode } from "./verify-answer.ts";

export { AnswerChecker, type AnswerCheckerOptions } from "./answer-checker.ts";
export { BudgetError } from "./budget.ts";
export type { Node } from "./expression/node.ts";
export { ParseError } from "./parse/tokens.ts";
export {
  type AnswerVerdict,
  type Mode,
  type ReadAnswer,
  type VerifyOptions,
  verifyAnswer,
} from "./verify-answer.ts";

/**
 * Finds the answer in a text. Returns it in SymPy's notation if it can be parsed, otherwise as it is written. Undefined if there is none.
 *
 * @example
 * extractAnswer("So $x = \\boxed{\\frac{6}{8}}$.") // "3/4"
 */
export function extractAnswer(text: string, options: { mode?: Mode } = {}): string | undefined {
  return withBudget(new Budget(), () => {
    const { node, text: written } = extract(text, "all", options.mode ?? "compat");
    return node ? print(node) : written;
  });
}

/**
 * Parses one LaTeX answer without a box or delimiters around it.
 *
 * @throws {ParseError} with the position of the error.
 * @example
 * printNode(parse("x^2 + 2x")) // "x**2 + 2*x"
 */
export function parse(answer: string, options: { mode?: Mode } = {}): Node {
  return withBudget(new Budget(), () =>
    parseAnswer(normalizeAnswer(answer.trim()), options.mode ?? "compat"),
  );
}

/** The text of a parsed answer in SymPy's notation. */
export function printNode(node: Node): string {
  return withBudget(new Budget(), () => print(node));
}
