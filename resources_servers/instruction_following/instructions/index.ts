import { RegexBudgetError, RegexSyntaxError } from "nemo-gym/python";
import { caseAndPunctuationInstructions } from "./case-and-punctuation.ts";
import { copyInstructions } from "./copying.ts";
import { countingInstructions } from "./counting.ts";
import { contentInstructions } from "./detectable-content.ts";
import { formatInstructions } from "./detectable-format.ts";
import { firstAndLastWordInstructions } from "./first-last-words.ts";
import type { Instruction, Instructions } from "./instruction.ts";
import { keywordInstructions } from "./keywords.ts";
import { Kwargs, KwargsError } from "./kwargs.ts";
import { lengthInstructions } from "./length-constraints.ts";
import { letterInstructions } from "./letters.ts";

/** Every instruction by its id. */
export const instructions: Instructions = {
  ...keywordInstructions,
  ...letterInstructions,
  ...lengthInstructions,
  ...countingInstructions,
  ...contentInstructions,
  ...formatInstructions,
  ...copyInstructions,
  ...firstAndLastWordInstructions,
  ...caseAndPunctuationInstructions,
};

/**
 * Whether a text follows an instruction. An unknown id, an unexpected or missing argument, or an invalid pattern counts as not
 * followed.
 */
export function follows(id: string, kwargs: Readonly<Record<string, unknown>> | null, text: string): boolean {
  const instruction: Instruction | undefined = Object.hasOwn(instructions, id) ? instructions[id] : undefined;
  if (!instruction) return false;
  const given = Object.entries(kwargs ?? {}).filter(([, value]) => value !== null);
  if (given.some(([name]) => !instruction.kwargs.includes(name))) return false;
  try {
    return instruction.check(text, new Kwargs(Object.fromEntries(given)));
  } catch (error) {
    if (
      error instanceof KwargsError ||
      error instanceof RegexSyntaxError ||
      error instanceof RegexBudgetError
    ) {
      return false;
    }
    throw error;
  }
}
