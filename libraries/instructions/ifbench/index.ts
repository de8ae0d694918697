import type { Instructions } from "../instruction.ts";
import { countInstructions } from "./counts.ts";
import { formatInstructions } from "./formats.ts";
import { repeatInstructions } from "./repeats.ts";
import { sentenceInstructions } from "./sentences.ts";
import { taskInstructions } from "./tasks.ts";
import { wordInstructions } from "./words.ts";

/** The instructions of IFBench by their ids, except `words:start_verb`, which needs a tagger of parts of speech. */
export const ifbenchInstructions: Instructions = {
  ...wordInstructions,
  ...countInstructions,
  ...sentenceInstructions,
  ...formatInstructions,
  ...taskInstructions,
  ...repeatInstructions,
};
