import { describe, expect, it } from "vitest";
import { followsInLanguage } from "./index.ts";

const follows = (id: string, kwargs: Record<string, unknown>, text: string, language = "en") =>
  followsInLanguage(language, id, kwargs, text);

describe("instructions of VerifIF", () => {
  it.each([
    ["change_case:alternating", {}, "aBc DeF", "aBC"],
    ["change_case:first_letter_cap", {}, "The 2nd Fox-trot", "THe fox"],
    ["change_case:all_caps_target", { target_string: "red fox" }, "a RED  FOX ran", "a RED fox ran"],
    ["change_case:first_letter_cap_target", { target_string: "red fox" }, "Red Fox", "red Fox"],
    ["change_case:case_ratio", { min_fraction: "1/3", max_fraction: 0.5 }, "aBC", "abC"],
    ["change_case:case_ratio", { min_fraction: "2", max_fraction: "inf" }, "abc", "aB"],
    ["change_case:first_letter_sentence", {}, "One. (Two)!\n- Three", "One. two"],
    ["change_case:last_letter", { case: "digit" }, "It costs (45).", "It costs 45%"],
    ["change_case:vowel_consonant_balance", { min_fraction: "1", max_fraction: "1" }, "lala", "all"],
    [
      "detectable_content:number_placeholders",
      { relation: "equal to", num_placeholders: 2 },
      "[a] [b]",
      "[a]",
    ],
    ["detectable_content:postscript", { postscript_marker: "PS:" }, "Hi\n\nPS: bye", "Hi\nPS:"],
    ["detectable_content:numeric_inclusion", { relation: "at least", num_numbers: 3 }, "1 and 23", "12"],
    ["detectable_format:json_format", {}, 'So: {"a": [1]} done', "{a}"],
    [
      "detectable_format:multiple_sections",
      { section_splitter: "Part", relation: "equal to", num_sections: 2 },
      "# Part 1\nx\n## part 2\ny",
      "# Part 1\n#Part 2",
    ],
    [
      "detectable_format:nested_list",
      { min_depth: 2, num_subitems: 2 },
      "- a\n  - b\n  - c\n- d",
      "- a\n  - b\n- c",
    ],
    ["detectable_format:table", { min_rows: 1, min_cols: 2 }, "|a|b|\n|-|-|\n|1|2|", "|a|b|\n|1|2|"],
    ["detectable_format:heading_depth", { levels: [1, 3] }, "# a\n### b", "# a\n###b"],
    [
      "detectable_format:number_paragraphs",
      { relation: "equal to", num_paragraphs: 2 },
      "# T\n\none\n---\ntwo",
      "# T\n\none\ntwo",
    ],
    [
      "detectable_format:sentences_per_paragraph",
      { relation: "at least", num_sentences: 2 },
      "A. B.\n\nC. D.",
      "A. B.\n\nC.",
    ],
    ["detectable_format:sentence_endings", { min_variants: 2 }, "a. b?!", "a. b."],
    ["keywords:forbidden_words", { forbidden_words: ["cat"] }, "category cat's", "a Cat."],
    ["keywords:positioning", { keyword: "fox", position: 1 }, "1. The Fox", "fox the"],
    ["keywords:palindrome_word", { min_length: 5 }, "a level road", "a noon road"],
    ["length_constraints:word_repetition", { max_repeats: 1 }, "a b c", "a b A"],
    ["length_constraints:number_words", { relation: "equal to", num_words: 3 }, "well-known - a, b!", "a b"],
    ["punctuation:end_rule", { allowed: ["."] }, "1. a. b.", "a! b."],
    ["startend:end_checker", { end_phrase: "the end!" }, "It is The End!", "the end"],
    ["startend:end_checker", { end_phrase: "the end" }, "It is The End?!", "the end is near"],
    ["startend:start_checker", { start_phrase: "well" }, "*Well, yes", "oh well"],
  ])("%s with %j", (id, kwargs, followed, broken) => {
    expect(follows(id, kwargs, followed)).toBe(true);
    expect(follows(id, kwargs, broken)).toBe(false);
  });

  it("does not follow an instruction with a wrong argument or without a check", () => {
    expect(follows("keywords:frequency", { keyword: "a", relation: "more than", frequency: 0 }, "a")).toBe(
      false,
    );
    expect(follows("change_case:case_ratio", { min_fraction: "1/0", max_fraction: "inf" }, "aA")).toBe(false);
    expect(follows("punctuation:balance", {}, "()")).toBe(false);
  });

  it.each([
    ["de", "keywords:vowel_count", { relation: "equal to", num_vowels: 2 }, "schön Tür"],
    ["fre", "keywords:vowel_count", { relation: "equal to", num_vowels: 1 }, "été le"],
    [
      "ja",
      "detectable_format:sentence_count",
      { relation: "equal to", num_sentences: 2 },
      "はい。行きます！",
    ],
    ["zh", "keywords:existence", { keywords: ["公园"] }, "我们去公园吧"],
    ["hi", "length_constraints:number_words", { relation: "equal to", num_words: 3 }, "हम पार्क गए।"],
    [
      "ar",
      "length_constraints:number_words",
      { relation: "equal to", num_words: 5 },
      "الطقس جميل اليوم. هل تذهب؟",
    ],
  ])("knows the rules of %s for %s", (language, id, kwargs, text) => {
    expect(follows(id, kwargs, text, language)).toBe(true);
  });

  it("reads long hostile texts in linear time", () => {
    const texts = [
      "\n".repeat(50_000),
      "|".repeat(50_000),
      "é-".repeat(50_000),
      "[".repeat(50_000),
      "# ".repeat(50_000),
    ];
    for (const text of texts)
      for (const id of [
        "detectable_format:number_paragraphs",
        "detectable_format:sentence_count",
        "length_constraints:unique_words",
        "detectable_content:number_placeholders",
      ])
        expect(
          typeof follows(
            id,
            { relation: "at least", num_paragraphs: 0, num_sentences: 0, num_unique: 0, num_placeholders: 0 },
            `a${text}b`,
          ),
        ).toBe("boolean");
  });
});
