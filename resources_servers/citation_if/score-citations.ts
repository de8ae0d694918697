import { RegexBudgetError, strip } from "nemo-gym/python";
import { citationPattern, type Grammar, grammars } from "./grammars.ts";
import type { Verifier } from "./row.ts";

/** Anything that looks like the id of a source, also of another scheme than the row's. */
const ID_LIKE = /citation_[A-Za-z0-9_:]+/i;
const OPENING_TAG = /<cite(?![\p{L}\p{N}_])/giu;
const CLOSING_TAG = /<\/cite\s*>/giu;
const WORD_CHARACTER = /[\p{L}\p{N}_]/u;

const usualIds: Readonly<Record<string, string>> = {
  full_source: "citation_[0-9]+",
  snippet: "citation_[0-9]+:snippet_[0-9]+",
};

export interface CitationScore {
  /** The first requirement that the answer does not meet; null if it meets all. */
  gate: string | null;
  [detail: string]: unknown;
}

/** Checks the citations of an answer. What the answer says is not checked. */
export function scoreCitations(text: string, calls: number, verifier: Verifier): CitationScore {
  const { grammar: name = "", id_kind = "full_source", mode = "cite", expected_ids } = verifier;
  const { expected_slack = 1, min_valid_citations = 1 } = verifier;
  const grammar = Object.hasOwn(grammars, name) ? grammars[name] : undefined;
  if (!grammar) return { gate: "unknown_grammar", grammar: name };
  const usual = Object.hasOwn(usualIds, id_kind) ? usualIds[id_kind] : undefined;
  const id_regex = verifier.id_regex || (usual ?? usualIds["full_source"] ?? "");

  const structural_ok = text !== "" && calls === 0;
  const citations = structural_ok ? findCitations(text, grammar, id_regex) : [];
  const parsed = [...new Set(citations.flatMap(({ ids }) => ids))];
  const known = new Set(verifier.valid_id_set);
  const valid = parsed.filter((id) => known.has(id));
  const invalid = parsed.filter((id) => !known.has(id));
  const attempted = structural_ok && ID_LIKE.test(text);
  const balanced = !grammar.tags || hasTags(text, citations.length);
  const expected = new Set(expected_ids);
  const missed = [...expected].filter((id) => !valid.includes(id)).sort();
  const tooMany = expected_ids != null && valid.length > expected.size + expected_slack;

  function failedGate(): string | null {
    if (!structural_ok) return "structural";
    if (mode === "no_cite") {
      const marked = citations.length > 0 || (grammar?.tags === true && text.search(OPENING_TAG) >= 0);
      return attempted || marked ? "no_cite" : null;
    }
    if (!WORD_CHARACTER.test(without(citations, text, true))) return "no_answer";
    if (ID_LIKE.test(without(citations, text, false)) || !balanced) return "malformed_attempt";
    if (valid.length < min_valid_citations) return "must_cite";
    if (invalid.length > 0) return "no_hallucination";
    if (missed.length > 0) return "correctness_missed_gold";
    return tooMany ? "correctness_over_cap" : null;
  }

  const gate = failedGate();
  // The expected sources are compared last; before that nothing is said about them.
  const compared =
    mode !== "no_cite" && expected_ids != null && (gate === null || gate.startsWith("correctness_"));
  return {
    gate,
    mode,
    grammar: name,
    id_kind,
    id_regex,
    structural_ok,
    function_call_count: calls,
    attempt_hits: attempted,
    bare_id_hits: attempted,
    parsed_ids: parsed,
    cited_ids: valid,
    valid_cited: valid,
    invalid_cited: invalid,
    num_valid_cited: valid.length,
    expected_ids: compared ? expected_ids : null,
    missed_ids: compared ? missed : [],
    over_cap: compared && tooMany,
  };
}

interface Citation {
  start: number;
  end: number;
  ids: string[];
  /** The enclosed text; undefined in a notation without claims. */
  claim: string | undefined;
}

/** The well-formed citations. A claim without text is none, and neither is anything in a text that takes too long to search. */
function findCitations(text: string, grammar: Grammar, id: string): Citation[] {
  const found: Citation[] = [];
  try {
    for (const match of citationPattern(grammar, id).finditer(text)) {
      const claim = grammar.claims ? (match.group("claim") ?? "") : undefined;
      if (claim !== undefined && strip(claim) === "") continue;
      const ids = (match.group("ids") ?? "").split(",");
      found.push({ start: match.start, end: match.end, ids, claim });
    }
  } catch (error) {
    if (error instanceof RegexBudgetError) return [];
    throw error;
  }
  return found;
}

/** The text with a space for each citation; with `keepClaims` only for its marks. */
function without(citations: readonly Citation[], text: string, keepClaims: boolean): string {
  let rest = "";
  let from = 0;
  for (const { start, end, claim = "" } of citations) {
    rest += `${text.slice(from, start)} ${keepClaims ? claim : ""} `;
    from = end;
  }
  return rest + text.slice(from);
}

/** Whether every `<cite>` and `</cite>` belongs to one of the citations. */
function hasTags(text: string, citations: number): boolean {
  const count = (tag: RegExp) => text.match(tag)?.length ?? 0;
  return count(OPENING_TAG) === citations && count(CLOSING_TAG) === citations;
}
