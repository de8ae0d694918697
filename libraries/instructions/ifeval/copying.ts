import { compilePyRegex, splitWords, strip } from "nemo-gym/python";
import type { Instruction, Instructions } from "../instruction.ts";
import { KwargsError } from "../kwargs.ts";

const SEPARATOR = "******";

function plain(text: string): string {
  return strip(text).toLowerCase();
}

const copy: Instruction = {
  kwargs: ["prompt_to_repeat"],
  check: (text, kwargs) => plain(text) === plain(kwargs.required("prompt_to_repeat")),
};

/** `text[start:end]` by code points; negative positions count from the end. */
function sliceCharacters(text: string, start: number, end: number): string {
  if (!Number.isInteger(start) || !Number.isInteger(end)) throw new KwargsError("places must be integers");
  return [...text].slice(start, end).join("");
}

/** The number of words in which two phrases differ; undefined if their lengths differ. */
function differences(words: readonly string[], reference: readonly string[]): number | undefined {
  if (words.length !== reference.length) return undefined;
  return words.filter((word, index) => word !== reference[index]).length;
}

/** Whether the text repeats the phrase `small_n` times, each with at most one changed word and the last with exactly one. */
const repeatPhrase: Instruction = {
  kwargs: ["phrase", "small_n"],
  check(text, kwargs) {
    const reference = splitWords(kwargs.text("phrase"));
    const first = reference[0];
    if (first === undefined) throw new KwargsError("phrase must not be empty");
    const found = compilePyRegex(`${first} .*? ${reference.at(-1)}`).findall(text);
    if (found.length !== kwargs.count("small_n")) return false;
    const changed = found.map((phrase) => differences(splitWords(phrase), reference));
    return changed.every((count) => count !== undefined && count <= 1) && changed.at(-1) === 1;
  },
};

export const copyInstructions: Instructions = {
  "copy:copy": copy,
  "copy:copying_simple": copy,
  "copy:repeat_phrase": repeatPhrase,
  "copy:copying_multiple": {
    kwargs: ["prompt_to_repeat", "N"],
    check(text, kwargs) {
      const prompt = plain(kwargs.required("prompt_to_repeat"));
      const pieces = text.split(SEPARATOR);
      return pieces.length === kwargs.number("N") && pieces.every((piece) => plain(piece) === prompt);
    },
  },
  "new:copy_span_idx": {
    kwargs: ["prompt_to_repeat", "n_start", "n_end"],
    check(text, kwargs) {
      const prompt = kwargs.required("prompt_to_repeat");
      return plain(text) === plain(sliceCharacters(prompt, kwargs.number("n_start"), kwargs.number("n_end")));
    },
  },
  "combination:repeat_prompt": {
    kwargs: ["prompt_to_repeat"],
    check: (text, kwargs) => plain(text).startsWith(plain(kwargs.required("prompt_to_repeat"))),
  },
  "combination:two_responses": {
    kwargs: [],
    check(text) {
      const pieces = text.split(SEPARATOR).map((piece) => strip(piece));
      if (pieces.some((piece, index) => piece === "" && index !== 0 && index !== pieces.length - 1))
        return false;
      const responses = pieces.filter((piece) => piece !== "");
      return responses.length === 2 && responses[0] !== responses[1];
    },
  },
};
