import { BudgetError, type Budget, MAX_ANSWER_CHARS } from "./budget.ts";
import { numberNode } from "./build-node.ts";
import { type Candidate, findCandidates } from "./candidates.ts";
import type { Mode } from "./mode.ts";
import { type Node, negated } from "./node.ts";
import { normalizeAnswer } from "./normalize.ts";
import { parseAnswer } from "./parser.ts";
import { parsePlainExpression } from "./plain-expression.ts";
import { conventional } from "./strict-readings.ts";
import { ParseError } from "./tokens.ts";

/** What was found in a text. */
export interface Extracted {
  /** The answer as it is understood; absent when nothing in the text could be read. */
  readonly node?: Node | undefined;
  /** The text of the best place, normalised; compared as text when nothing else decides. */
  readonly text?: string | undefined;
  /** Why the text of the best place could not be read. */
  readonly problem?: string | undefined;
}

/** How many candidates are tried. */
const MAX_TRIED = 200;

/** Finds the answer in a text; `latex` looks at LaTeX only, `all` also at plain numbers. */
export function extract(text: string, targets: "latex" | "all", budget: Budget, mode: Mode): Extracted {
  let first: string | undefined;
  let problem: string | undefined;
  for (const candidate of findCandidates(text, targets).slice(0, MAX_TRIED)) {
    budget.spend(candidate.contents.length);
    const texts = candidate.contents.map((content) => (candidate.kind === "latex" ? normalize(content, mode) : content));
    if (first === undefined && texts.some((content) => content !== "")) first = texts.join(" and ");
    try {
      const node = read(candidate, texts, budget, mode);
      if (node) return { node, text: first, problem };
    } catch (error) {
      if (!(error instanceof ParseError || error instanceof BudgetError || error instanceof RangeError)) throw error;
      problem ??= error.message;
    }
  }
  return { text: first, problem };
}

function normalize(content: string, mode: Mode): string {
  if (content.length > MAX_ANSWER_CHARS) return content;
  return normalizeAnswer(mode === "strict" ? conventional(content) : content);
}

function read(candidate: Candidate, texts: readonly string[], budget: Budget, mode: Mode): Node | undefined {
  const nodes = texts.map((text) => readOne(candidate.kind, text, budget, mode));
  const [only] = nodes;
  if (only === undefined || nodes.some((node) => node === undefined)) return undefined;
  const value: Node = nodes.length === 1 ? only : { kind: "set", items: nodes.filter((node) => node !== undefined) };
  return candidate.percent ? { kind: "percent", value } : value;
}

function readOne(kind: Candidate["kind"], text: string, budget: Budget, mode: Mode): Node | undefined {
  if (kind === "number") {
    const node = numberNode(text.replace(/^-/, ""));
    return text.startsWith("-") ? negated(node) : node;
  }
  if (text.length > MAX_ANSWER_CHARS) throw new BudgetError("The answer is too long.");
  if (kind === "expression") return parsePlainExpression(text, budget);
  return text === "" ? undefined : readLatex(text, budget, mode);
}

/** When a chain of equations cannot be read as a whole, its last part counts. */
function readLatex(text: string, budget: Budget, mode: Mode): Node {
  try {
    return parseAnswer(text, budget, mode);
  } catch (error) {
    const parts = text.split("=");
    if (!(error instanceof ParseError) || parts.length < 3 || /[,;]/.test(text)) throw error;
    return parseAnswer(parts.at(-1)?.trim() ?? "", budget, mode);
  }
}
