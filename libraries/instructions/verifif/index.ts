/**
 * The instructions of VerifIF: checks for texts in eleven languages, and those that only a judge can check.
 *
 * @module
 */
import { strip } from "nemo-gym/python";
import type { Instructions } from "../instruction.ts";
import { followsIn } from "../registry.ts";
import { caseInstructions } from "./case.ts";
import { formatInstructions } from "./format.ts";
import { keywordInstructions } from "./keywords.ts";
import { knownLanguage, languageOf } from "./languages.ts";

export { knownValuesOf, needsJudge, requiredArguments } from "./arguments-table.ts";
export { knownLanguage } from "./languages.ts";

const tables = new Map<string, Instructions>();

function instructionsOf(code: string): Instructions {
  const known = knownLanguage(code);
  const existing = tables.get(known);
  if (existing) return existing;
  const language = languageOf(known);
  const table = {
    ...caseInstructions(language),
    ...keywordInstructions(language),
    ...formatInstructions(language),
  };
  tables.set(known, table);
  return table;
}

/** Whether a text follows an instruction in a language. */
export function followsInLanguage(
  code: string,
  id: string,
  kwargs: Readonly<Record<string, unknown>>,
  text: string,
): boolean {
  return !languageOf(code).unsupported.has(id) && followsIn(instructionsOf(code), id, kwargs, strip(text));
}

const vowelInstructions = new Set(["keywords:vowel_count", "keywords:consonant_count"]);
const letterInstructions = new Set(["keywords:letter_frequency", "keywords:alliteration"]);

/** Whether an instruction makes sense in a language: not for letters without case, or without vowels and consonants. */
export function isPossibleIn(code: string, id: string): boolean {
  if (languageOf(code).hasCase) return true;
  return !id.startsWith("change_case:") && !vowelInstructions.has(id) && !letterInstructions.has(id);
}
