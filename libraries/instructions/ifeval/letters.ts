import type { Instruction, Instructions } from "../instruction.ts";
import { compare } from "../kwargs.ts";

const letterFrequency: Instruction = {
  kwargs: ["letter", "let_frequency", "let_relation"],
  check(text, kwargs) {
    const letter = kwargs.word("letter").toLowerCase();
    let count = 0;
    for (const character of text.toLowerCase()) if (character === letter) count++;
    return compare(count, kwargs.relation("let_relation"), kwargs.count("let_frequency"));
  },
};

export const letterInstructions: Instructions = {
  "keywords:letter_frequency": letterFrequency,
  "letters:letter_counting2": letterFrequency,
  "letters:letter_counting": {
    kwargs: ["N", "relation"],
    check: (text, kwargs) =>
      compare(text.match(/[a-zA-Z]/g)?.length ?? 0, kwargs.relation("relation"), kwargs.number("N")),
  },
};
