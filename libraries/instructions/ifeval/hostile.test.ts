import { growthOf } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { follows, instructions } from "./index.ts";

/** Difficult inputs for verifiers: runs that cause backtracking, and text without structure. */
const UNITS = ["a", " ", "[", "*", " -\n", ". ", "<<"];
/** A quadratic check of this many characters takes at least ten seconds. */
const SIZE = 100_000;
/** A power of the length: linear time has 1, quadratic time 2. */
const LINEAR = 1.6;

const values: Record<string, unknown> = {
  keywords: ["(a+)+$", "(x ?)*y"],
  keyword: "(a|a)*b",
  keyword1: "(\\s*a*)*b",
  keyword2: ".*.*=.*",
  forbidden_words: ["(.*)*x"],
  frequency: 3,
  relation: "at least",
  letter: "a",
  let_frequency: 3,
  let_relation: "less than",
  language: "en",
  num_sentences: 3,
  num_paragraphs: 3,
  num_words: 3,
  nth_paragraph: 2,
  first_word: "a",
  last_word: "a",
  num_placeholders: 3,
  postscript_marker: "(a*)*b",
  num_bullets: 3,
  num_highlights: 3,
  section_spliter: "(a*)*b",
  num_sections: 3,
  prompt_to_repeat: "a",
  end_phrase: "a",
  capital_frequency: 3,
  capital_relation: "at least",
  phrase: "a b",
  small_n: 2,
  n_start: 1,
  n_end: 5,
  N: 3,
  n_sent: 1,
  n_words: 1,
  n: 1,
  m: 1,
};

function check(id: string, text: string): void {
  const known = instructions[id]?.kwargs ?? [];
  const given = Object.entries(values).filter(([name]) => known.includes(name));
  follows(id, Object.fromEntries(given), text);
}

function growth(id: string, unit: string, maxSize: number): Promise<number> {
  const work = (size: number) => check(id, `${unit.repeat(size / unit.length)}!`);
  return growthOf(work, maxSize / 16, { maxSize });
}

describe("hostile answers", () => {
  it.each(Object.keys(instructions))(
    "%s takes linear time",
    async (id) => {
      for (const unit of UNITS)
        expect(await growth(id, unit, SIZE), JSON.stringify(unit)).toBeLessThan(LINEAR);
    },
    60_000,
  );

  it.each([
    ["detectable_content:number_placeholders", "["],
    ["detectable_format:number_bullet_lists", "\n"],
    ["detectable_format:number_highlighted_sections", "*a"],
    ["detectable_format:title", "<<"],
    ["detectable_format:json_format", "["],
    ["length_constraints:number_paragraphs", " **"],
    ["count:lowercase_counting", "aé"],
    ["language:response_language", "a@"],
    ["keywords:existence", "a"],
  ])(
    "%s takes linear time up to a megabyte of %j",
    async (id, unit) => {
      expect(await growth(id, unit, 1_000_000)).toBeLessThan(LINEAR);
    },
    60_000,
  );

  it("accepts invalid and unusual text", () => {
    for (const id of Object.keys(instructions)) {
      for (const text of ["", "\ud800", "\udc00 \ud83d", "\u0000", "NaN", "9".repeat(5000), "\u2028\u0085"])
        check(id, text);
    }
  });
});
