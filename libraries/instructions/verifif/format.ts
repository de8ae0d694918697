import { codePointLength, loads, splitLines, splitWords, strip } from "nemo-gym/python";
import type { Instructions } from "../instruction.ts";
import { isRelated, texts } from "./arguments.ts";
import { phrasePattern } from "./keywords.ts";
import type { Language } from "./languages.ts";
import {
  endingsOf,
  listsOf,
  paragraphsOf,
  sentencesOf,
  tablesOf,
  withoutListNumbers,
  withoutMarker,
} from "./text.ts";

const matchCount = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

function isJson(text: string): boolean {
  try {
    loads(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
    return true;
  } catch {
    return false;
  }
}

/** The number of headings such as `## Part 1`. */
function countSections(text: string, name: string): number {
  const numbered = new RegExp(`^#{1,6}\\s+${phrasePattern(name, "#").source}\\s+\\p{Nd}`, "iu");
  return text.split("\n").filter((line) => numbered.test(strip(line))).length;
}

/** Instructions that the row format knows, but that no text can follow: the original has no check for them. */
const unchecked = [
  "length:max_word_count",
  "detectable_format:indentation",
  "detectable_format:section_balance",
  "punctuation:frequency",
  "punctuation:balance",
  "punctuation:variety",
];

export function formatInstructions(language: Language): Instructions {
  const { ends } = language;
  const words = (text: string) => language.words(withoutListNumbers(text));
  const without = (marks: string) => ({
    kwargs: "any" as const,
    check: (text: string) => [...marks].every((mark) => !text.includes(mark)),
  });
  return {
    ...Object.fromEntries(unchecked.map((id) => [id, { kwargs: "any" as const, check: () => false }])),
    "detectable_content:number_placeholders": {
      kwargs: "any",
      check: (text, kwargs) => isRelated(matchCount(text, /\[[^[\]\n]*\]/g), kwargs, "num_placeholders"),
    },
    "detectable_content:postscript": {
      kwargs: "any",
      check(text, kwargs) {
        const marker = strip(kwargs.text("postscript_marker"));
        const last = strip(splitLines(text).at(-1) ?? "");
        return last.startsWith(marker) && last.length > marker.length;
      },
    },
    "detectable_content:numeric_inclusion": {
      kwargs: "any",
      check: (text, kwargs) => isRelated(matchCount(text, /[\p{Nd}²³¹⁰⁴-⁹₀-₉]/gu), kwargs, "num_numbers"),
    },
    "detectable_format:json_format": { kwargs: "any", check: isJson },
    "detectable_format:multiple_sections": {
      kwargs: "any",
      check(text, kwargs) {
        const name = strip(kwargs.text("section_splitter"));
        return !/[#*]/.test(name) && isRelated(countSections(text, name), kwargs, "num_sections");
      },
    },
    "detectable_format:numbered_list": {
      kwargs: "any",
      check: (text, kwargs) =>
        isRelated(matchCount(text, /^[^\S\n]*\p{Nd}+\./gmu), kwargs, "num_numbered_items"),
    },
    "detectable_format:number_bullet_lists": {
      kwargs: "any",
      check: (text, kwargs) => isRelated(matchCount(text, /^[*-]\s/gmu), kwargs, "num_bullets"),
    },
    "detectable_format:title": {
      kwargs: "any",
      check: (text) => /^<<.*>>$/.test(strip(splitLines(text)[0] ?? "")),
    },
    "detectable_format:number_paragraphs": {
      kwargs: "any",
      check: (text, kwargs) => isRelated(paragraphsOf(text).length, kwargs, "num_paragraphs"),
    },
    "detectable_format:max_paragraph_length": {
      kwargs: "any",
      check(text, kwargs) {
        const most = kwargs.number("max_chars");
        return paragraphsOf(text).every((block) => codePointLength(strip(withoutMarker(block))) <= most);
      },
    },
    "detectable_format:sentences_per_paragraph": {
      kwargs: "any",
      check: (text, kwargs) =>
        paragraphsOf(text).every((block) =>
          isRelated(Math.max(sentencesOf(block, ends).length, 1), kwargs, "num_sentences"),
        ),
    },
    "detectable_format:sentence_count": {
      kwargs: "any",
      check: (text, kwargs) => isRelated(sentencesOf(text, ends).length, kwargs, "num_sentences"),
    },
    "detectable_format:sentence_endings": {
      kwargs: "any",
      check: (text, kwargs) => new Set(endingsOf(text, ends)).size >= kwargs.number("min_variants"),
    },
    "detectable_format:nested_list": {
      kwargs: "any",
      check(text, kwargs) {
        const [depth, items] = [kwargs.number("min_depth"), kwargs.number("num_subitems")];
        const lists = [/^[*+-][ \t]/, /^\p{Nd}+\.[ \t]/u].flatMap((marker) => listsOf(text, marker));
        return lists.some((list) => list.level === depth && list.items >= items);
      },
    },
    "detectable_format:table": {
      kwargs: "any",
      check(text, kwargs) {
        const [rows, columns] = [kwargs.number("min_rows"), kwargs.number("min_cols")];
        return tablesOf(text).some((table) => table.rows >= rows && table.columns >= columns);
      },
    },
    "detectable_format:heading_depth": {
      kwargs: "any",
      check(text, kwargs) {
        const levels = kwargs.value("levels");
        const found = text.match(/^[^\S\n]*#+(?=[ \t])/gmu)?.map((marks) => strip(marks).length) ?? [];
        return (
          Array.isArray(levels) &&
          levels.length > 0 &&
          levels.every((level) => typeof level === "number" && found.includes(level))
        );
      },
    },
    "length_constraints:number_characters": {
      kwargs: "any",
      check: (text, kwargs) => isRelated(codePointLength(text), kwargs, "num_chars"),
    },
    "length_constraints:number_words": {
      kwargs: "any",
      check: (text, kwargs) => isRelated(language.countWords(text), kwargs, "num_words"),
    },
    "length_constraints:sentence_length": {
      kwargs: "any",
      check(text, kwargs) {
        const most = kwargs.number("max_words");
        const length = (sentence: string) =>
          language.isUnspaced ? sentence.replace(/\s+/gu, "").length : splitWords(sentence).length;
        return sentencesOf(text, ends).every((sentence) => length(sentence) <= most);
      },
    },
    "length_constraints:word_repetition": {
      kwargs: "any",
      check(text, kwargs) {
        const most = kwargs.number("max_repeats");
        const counts = new Map<string, number>();
        for (const word of words(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
        return [...counts.values()].every((count) => count <= most);
      },
    },
    "length_constraints:unique_words": {
      kwargs: "any",
      check: (text, kwargs) => isRelated(new Set(words(text)).size, kwargs, "num_unique"),
    },
    "length_constraints:word_length": {
      kwargs: "any",
      check(text, kwargs) {
        const [least, most] = [kwargs.number("min_length"), kwargs.number("max_length")];
        return least <= most && words(text).every(({ length }) => least <= length && length <= most);
      },
    },
    "length_constraints:avg_word_length": {
      kwargs: "any",
      check(text, kwargs) {
        const [least, most] = [kwargs.number("min_ratio"), kwargs.number("max_ratio")];
        const found = words(text);
        const average = found.reduce((sum, word) => sum + word.length, 0) / found.length;
        return least <= average && average <= most;
      },
    },
    "length_constraints:paragraph_length": {
      kwargs: "any",
      check: (text, kwargs) =>
        paragraphsOf(text).every((block) => isRelated(words(block).length, kwargs, "words_per_paragraph")),
    },
    "punctuation:no_comma": without(language.commas),
    "punctuation:no_period": without(language.periods),
    "punctuation:question_exclaim": {
      kwargs: "any",
      check: (text, kwargs) =>
        isRelated([...text].filter((mark) => language.marks.includes(mark)).length, kwargs, "num_marks"),
    },
    "punctuation:end_rule": {
      kwargs: "any",
      check(text, kwargs) {
        const allowed = texts(kwargs, "allowed");
        return endingsOf(text, ends).every((ending) => allowed.includes(ending));
      },
    },
  };
}
