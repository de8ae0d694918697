import type { Instructions } from "../instruction.ts";
import { followsIn } from "../registry.ts";
import { caseAndPunctuationInstructions } from "./case-and-punctuation.ts";
import { copyInstructions } from "./copying.ts";
import { countingInstructions } from "./counting.ts";
import { contentInstructions } from "./detectable-content.ts";
import { formatInstructions } from "./detectable-format.ts";
import { firstAndLastWordInstructions } from "./first-last-words.ts";
import { keywordInstructions } from "./keywords.ts";
import { lengthInstructions } from "./length-constraints.ts";
import { letterInstructions } from "./letters.ts";

/** The instructions of IFEval and of instruction_following by their ids. */
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

/** Whether a text follows an instruction; see `followsIn`. */
export function follows(id: string, kwargs: Readonly<Record<string, unknown>> | null, text: string): boolean {
  return followsIn(instructions, id, kwargs, text);
}
