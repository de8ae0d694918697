import { describe, expect, it } from "vitest";
import { follows, instructions } from "./index.ts";

type Case = [id: string, kwargs: Record<string, unknown>, text: string, followed: boolean];

const cases: Case[] = [
  ["keywords:existence", { keywords: ["fox", "d.g"] }, "Foxes and DOGS", true],
  ["keywords:existence", { keywords: ["cat"] }, "dog", false],
  ["keywords:existence", { keywords: ["("] }, "(", false],
  ["keywords:frequency", { keyword: "a", frequency: 2, relation: "at least" }, "a b A", true],
  ["keywords:frequency", { keyword: "a", frequency: 2, relation: "less than" }, "a b A", false],
  ["keywords:frequency", { keyword: "a", frequency: 2, relation: "exactly" }, "a a", false],
  ["keywords:word_count_different_numbers", { keyword: "a", frequency: 1, relation: "less than" }, "b", true],
  ["keywords:forbidden_words", { forbidden_words: ["ox"] }, "fox", true],
  ["keywords:forbidden_words", { forbidden_words: ["ox"] }, "an Ox!", false],
  ["keywords:word_once", { keyword: "the" }, "the other", false],
  ["keywords:word_once", { keyword: "one" }, "one", true],
  ["keywords:exclude_word_harder", { keyword: "red" }, "a red car", false],
  ["keywords:exclude_word_harder", { keyword: "red" }, "red car, Red!", true],
  ["keywords:no_adjacent_consecutive", {}, "alpha beta", false],
  ["keywords:no_adjacent_consecutive", {}, "beta alpha", true],
  ["keywords:no_adjacent_consecutive", {}, "İx", true],
  ["keywords:palindrome", {}, "see the level", true],
  ["keywords:palindrome", {}, "no such word here", false],
  ["keywords:keyword_specific_position", { keyword: "red", n: 2, m: 3 }, "Hi. We like red cats.", true],
  ["keywords:keyword_specific_position", { keyword: ["red"], n: 1, m: 1 }, "red", true],
  ["keywords:keyword_specific_position", { keyword: "red", n: 3, m: 1 }, "red.", false],
  ["keywords:start_end", {}, "Yes and yes", true],
  ["keywords:start_end", {}, "yes", false],
  ["keywords:letter_frequency", { letter: "E", let_frequency: 2, let_relation: "at least" }, "eE", true],
  ["letters:letter_counting2", { letter: "e", let_frequency: 1, let_relation: "less than" }, "e", false],
  ["letters:letter_counting", { N: 3, relation: "at least" }, "a1b2é", false],
  ["language:response_language", { language: "fr" }, "Il fait beau et nous allons au marché.", true],
  ["language:response_language", { language: "xx" }, "123", false],
  ["length_constraints:number_sentences", { num_sentences: 2, relation: "at least" }, "Dr. Who. Yes.", true],
  ["length_constraints:number_paragraphs", { num_paragraphs: 2 }, "a\n***\nb", true],
  ["length_constraints:number_paragraphs", { num_paragraphs: 2 }, "a******b", false],
  ["length_constraints:number_words", { num_words: 3, relation: "less than" }, "naïve co-op", false],
  [
    "length_constraints:nth_paragraph_first_word",
    { num_paragraphs: 2, nth_paragraph: 2, first_word: "However" },
    'One.\n\n"However", two.',
    true,
  ],
  ["paragraphs:paragraphs", {}, "a *** b", true],
  ["paragraphs:paragraphs2", {}, "a\n\nb\n\n", true],
  ["paragraphs:paragraphs2", {}, "a\n\n\n\nb", false],
  ["count:lowercase_counting", { N: 1 }, "One two THREE éa", true],
  ["count:counting_composition", { n_sent: 1, n_words: 3 }, "Go now. *** Go away. *** Go then.", true],
  ["count:count_unique", {}, "a b A", true],
  ["count:count_unique", {}, "a, b, c", false],
  ["count:count_increment_word", { keyword1: "one", keyword2: "two" }, "one two Two", true],
  ["detectable_content:number_placeholders", { num_placeholders: 2 }, "[a] [b\n] [c]", true],
  ["detectable_content:number_placeholders", { num_placeholders: 1 }, "[a\n]", false],
  ["detectable_content:postscript", { postscript_marker: "P.S." }, "x\np. s. more", true],
  ["detectable_content:postscript", { postscript_marker: "P.P.S" }, "P.S. more", false],
  ["detectable_format:number_bullet_lists", { num_bullets: 3 }, "* a\n\n  - b\n** c\n*\nd", true],
  ["detectable_format:constrained_response", {}, "My answer is maybe.", true],
  ["detectable_format:number_highlighted_sections", { num_highlights: 2 }, "*a* ** ** **b**", true],
  [
    "detectable_format:multiple_sections",
    { section_spliter: "Part", num_sections: 2 },
    "Part 1 x Part2 y",
    true,
  ],
  ["detectable_format:json_format", {}, '```json\n{"a": NaN}\n```', true],
  ["detectable_format:json_format", {}, "{'a': 1}", false],
  ["detectable_format:title", {}, "text <<My title>>", true],
  ["detectable_format:title", {}, "<<>> << >>", true],
  ["detectable_format:title", {}, "<< >>", false],
  ["detectable_format:sentence_hyphens", {}, "One.-Two.", true],
  ["detectable_format:sentence_hyphens", {}, "One. - Two.", false],
  ["detectable_format:square_brackets", {}, "[a] [b]", true],
  ["detectable_format:bigram_wrapping", {}, "<<a b>> <<c d>> e", true],
  ["combination:two_responses", {}, "a ****** b", true],
  ["combination:two_responses", {}, "a ****** a", false],
  ["combination:repeat_prompt", { prompt_to_repeat: "Say hi" }, "say HI: hi", true],
  ["combination:repeat_prompt", {}, "hi", false],
  ["copy:copy", { prompt_to_repeat: "Say hi" }, " say hi ", true],
  ["copy:copying_simple", { prompt_to_repeat: "Say hi" }, "hi", false],
  ["copy:copying_multiple", { prompt_to_repeat: "a", N: 2 }, "a ****** A", true],
  ["copy:repeat_phrase", { phrase: "the big cat sat", small_n: 2 }, "the big cat sat, the old cat sat", true],
  ["copy:repeat_phrase", { phrase: "the big cat sat", small_n: 1 }, "the big cat sat", false],
  ["new:copy_span_idx", { prompt_to_repeat: "😀bcdef", n_start: 1, n_end: -1 }, "bcde", true],
  ["first_word:first_word_sent", { first_word: " We " }, "We go. we stop!", true],
  ["first_word:first_word_answer", { first_word: "we" }, "", false],
  ["last_word:last_word_sent", { last_word: ["end"] }, "The end. My END!", true],
  ["last_word:last_word_answer", { last_word: "end" }, "the end", true],
  ["last_word:last_word_answer", { last_word: "end" }, "", false],
  ["startend:end_checker", { end_phrase: "Bye." }, '"So long. bye."', true],
  ["startend:quotation", {}, ' "a" ', true],
  ["startend:quotation", {}, '"', false],
  [
    "change_case:capital_word_frequency",
    { capital_frequency: 2, capital_relation: "at least" },
    "NASA's FBI x",
    true,
  ],
  ["change_case:english_capital", {}, "The", false],
  ["change_case:english_lowercase", {}, "the weather is fine and we will go for a walk", true],
  ["punctuation:no_comma", {}, "a, b", false],
  ["punctuation:punctuation_dot", {}, "a!", true],
  ["punctuation:punctuation_exclamation", {}, "a!", false],
];

describe("instructions", () => {
  it("implements 54 instructions", () => {
    expect(Object.keys(instructions)).toHaveLength(54);
    expect(new Set(cases.map(([id]) => id))).toEqual(new Set(Object.keys(instructions)));
  });

  it.each(cases)("%s %j on %j: %s", (id, kwargs, text, followed) => {
    expect(follows(id, kwargs, text)).toBe(followed);
  });

  it("counts an instruction that cannot be checked as not followed", () => {
    expect(follows("bogus:unknown", {}, "x")).toBe(false);
    expect(follows("toString", {}, "x")).toBe(false);
    expect(follows("punctuation:no_comma", { extra: 1 }, "x")).toBe(false);
    expect(follows("punctuation:no_comma", { extra: null }, "x")).toBe(true);
    expect(follows("length_constraints:number_words", { num_words: "3", relation: "less than" }, "x")).toBe(
      false,
    );
    expect(follows("length_constraints:number_words", { num_words: 3 }, "x")).toBe(false);
    expect(follows("keywords:existence", { keywords: [] }, "x")).toBe(false);
    expect(follows("copy:copy", { prompt_to_repeat: "" }, "")).toBe(false);
  });
});
