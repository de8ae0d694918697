import { strip } from "nemo-gym/python";

export type Formula =
  | { kind: "variable"; name: string }
  | { kind: "not"; inner: Formula }
  | { kind: Connective; left: Formula; right: Formula };

/** Connectives from the lowest to the highest precedence. */
const CONNECTIVES = ["↔", "→", "∨", "∧"] as const;
type Connective = (typeof CONNECTIVES)[number];

/** The text is not a formula. */
class FormulaError extends Error {
  override readonly name = "FormulaError";
}

const MAX_LENGTH = 1000;

/** Reads a formula such as `(P ∧ ¬Q) → R`. Any text in the position of a variable counts as a variable. */
export function parseFormula(text: string): Formula {
  if (text.length > MAX_LENGTH) throw new FormulaError("too long");
  return parse(text);
}

function parse(text: string): Formula {
  const formula = strip(text);
  if (formula === "") throw new FormulaError("empty");
  if (isEnclosed(formula)) return parse(formula.slice(1, -1));
  for (const connective of CONNECTIVES) {
    const at = lastOutside(formula, connective);
    if (at >= 0)
      return { kind: connective, left: parse(formula.slice(0, at)), right: parse(formula.slice(at + 1)) };
  }
  if (formula.startsWith("¬")) return { kind: "not", inner: parse(formula.slice(1)) };
  return { kind: "variable", name: formula };
}

/** Whether the last parenthesis closes the first. */
function isEnclosed(text: string): boolean {
  if (!text.startsWith("(") || !text.endsWith(")") || text.length < 2) return false;
  let level = 0;
  for (const character of text.slice(1, -1)) {
    if (character === "(") level++;
    else if (character === ")" && --level < 0) return false;
  }
  return level === 0;
}

/** The last position of a connective outside all parentheses, or -1. */
function lastOutside(text: string, connective: Connective): number {
  let level = 0;
  for (let index = text.length - 1; index >= 0; index--) {
    const character = text[index];
    if (character === ")") level++;
    else if (character === "(") level--;
    else if (level === 0 && character === connective) return index;
  }
  return -1;
}

export function variablesOf(formula: Formula): Set<string> {
  switch (formula.kind) {
    case "variable":
      return new Set([formula.name]);
    case "not":
      return variablesOf(formula.inner);
    default:
      return new Set([...variablesOf(formula.left), ...variablesOf(formula.right)]);
  }
}

export function evaluateFormula(formula: Formula, values: ReadonlyMap<string, boolean>): boolean {
  switch (formula.kind) {
    case "variable":
      return values.get(formula.name) ?? false;
    case "not":
      return !evaluateFormula(formula.inner, values);
    case "∧":
      return evaluateFormula(formula.left, values) && evaluateFormula(formula.right, values);
    case "∨":
      return evaluateFormula(formula.left, values) || evaluateFormula(formula.right, values);
    case "→":
      return !evaluateFormula(formula.left, values) || evaluateFormula(formula.right, values);
    case "↔":
      return evaluateFormula(formula.left, values) === evaluateFormula(formula.right, values);
  }
}
