import { BudgetError, isExhausted, isGivenUp, MAX_ANSWER_CHARS, spend } from "../budget.ts";
import { type Node, negated } from "../expression/node.ts";
import { numberNode } from "../parse/build-node.ts";
import { parseAnswer } from "../parse/parser.ts";
import { parsePlainExpression } from "../parse/plain-expression.ts";
import { ParseError } from "../parse/tokens.ts";
import type { Mode } from "../verify-answer.ts";
import { type AnswerCandidate, findCandidates } from "./candidates.ts";
import { normalizeAnswer } from "./normalize.ts";
import { CONJUNCTION, conventional } from "./strict-spellings.ts";

/** The answer in a text. */
export interface Extracted {
  /** The parsed answer. Absent if nothing in the text could be parsed. */
  readonly node?: Node;
  /** The normalized text of the best candidate, which is compared if nothing else decides. */
  readonly text?: string;
  /** Why the best candidate could not be parsed. */
  readonly problem?: string;
}

/** Only the end of a longer text is searched. */
const MAX_TEXT_CHARS = 200_000;
/** Characters that are searched or normalized in one step. */
const SEARCHED_CHARS = 200;
const NORMALIZED_CHARS = 20;
/** Maximum number of candidates. */
const MAX_TRIED = 200;

/** Finds the answer in a text. `latex` searches only LaTeX, `all` also plain numbers. */
export function extract(text: string, targets: "latex" | "all", mode: Mode): Extracted {
  let first: string | undefined;
  let problem: string | undefined;
  const end = text.length > MAX_TEXT_CHARS ? text.slice(-MAX_TEXT_CHARS) : text;
  spend(end.length / SEARCHED_CHARS);
  for (const candidate of findCandidates(end, targets).slice(0, MAX_TRIED)) {
    if (isExhausted()) break;
    try {
      const texts = candidate.contents.map((content) =>
        candidate.kind === "latex" ? normalize(content, mode) : content,
      );
      if (first === undefined && texts.some((content) => content !== "")) first = texts.join(" and ");
      const node = read(candidate, texts, mode);
      if (node) return { node, text: first, problem };
    } catch (error) {
      if (!(error instanceof ParseError || isGivenUp(error))) throw error;
      problem ??= (error as Error).message;
    }
  }
  return { text: first, problem };
}

function normalize(content: string, mode: Mode): string {
  if (content.length > MAX_ANSWER_CHARS) return content;
  spend(content.length / NORMALIZED_CHARS);
  return normalizeAnswer(mode === "strict" ? conventional(content).trim() : content);
}

function read(candidate: AnswerCandidate, texts: readonly string[], mode: Mode): Node | undefined {
  const nodes = texts.map((text) => readOne(candidate.kind, text, mode));
  const [only] = nodes;
  if (only === undefined || nodes.some((node) => node === undefined)) return undefined;
  const value: Node =
    nodes.length === 1 ? only : { kind: "set", items: nodes.filter((node) => node !== undefined) };
  return candidate.percent ? { kind: "percent", value } : value;
}

function readOne(kind: AnswerCandidate["kind"], text: string, mode: Mode): Node | undefined {
  if (kind === "number") {
    const node = numberNode(text.replace(/^-/, ""));
    return text.startsWith("-") ? negated(node) : node;
  }
  if (text.length > MAX_ANSWER_CHARS) throw new BudgetError("The answer is too long.");
  if (kind === "expression") return parsePlainExpression(text);
  return text === "" ? undefined : readLatex(text, mode);
}

/** If a chain of equations cannot be parsed as a whole, its last part counts. */
function readLatex(text: string, mode: Mode): Node {
  if (mode === "strict" && text.includes(CONJUNCTION)) {
    const parts = text.split(CONJUNCTION).map((part) => parseAnswer(part.trim(), mode));
    return { kind: "and", parts: parts.flatMap((part) => (part.kind === "and" ? part.parts : [part])) };
  }
  try {
    return parseAnswer(text, mode);
  } catch (error) {
    const parts = text.split("=");
    if (!(error instanceof ParseError) || parts.length < 3 || /[,;]/.test(text)) throw error;
    return parseAnswer(parts.at(-1)?.trim() ?? "", mode);
  }
}
