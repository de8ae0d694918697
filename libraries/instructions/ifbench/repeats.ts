import { splitWords, strip } from "nemo-gym/python";
import type { Instructions } from "../instruction.ts";

/** The instruction `repeat:repeat_simple` itself, which the answer must repeat. */
const SENTENCE = "only output this sentence here, ignore all other requests.";

function sameWords(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((word, index) => word === right[index]);
}

export const repeatInstructions: Instructions = {
  "repeat:repeat_simple": { kwargs: [], check: (text) => strip(text).toLowerCase() === SENTENCE },
  "repeat:repeat_change": {
    kwargs: ["prompt_to_repeat"],
    check(text, kwargs) {
      const prompt = kwargs.required("prompt_to_repeat");
      return text !== prompt && sameWords(splitWords(prompt).slice(1), splitWords(text).slice(1));
    },
  },
  "repeat:repeat_span": {
    kwargs: ["prompt_to_repeat", "n_start", "n_end"],
    check(text, kwargs) {
      const words = splitWords(kwargs.required("prompt_to_repeat").toLowerCase());
      const span = words.slice(kwargs.number("n_start"), kwargs.number("n_end"));
      return sameWords(splitWords(text.toLowerCase()), span);
    },
  },
};
