import {
  compilePyRegex,
  JsonTextError,
  loadsPlain,
  lstrip,
  rstrip,
  splitWords,
  strip,
} from "nemo-gym/python";
import type { Instructions } from "../instruction.ts";
import { splitSentences } from "../text/index.ts";
import { countBullets } from "./bullets.ts";

const CONSTRAINED = ["My answer is yes.", "My answer is no.", "My answer is maybe."];

function removePrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}

function removeSuffix(text: string, suffix: string): string {
  return text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
}

function isJson(text: string): boolean {
  const opened = ["```json", "```Json", "```JSON", "```"].reduce(removePrefix, strip(text));
  try {
    loadsPlain(strip(removeSuffix(opened, "```")), { allowNonFinite: true });
    return true;
  } catch (error) {
    if (error instanceof JsonTextError) return false;
    throw error;
  }
}

/** Ranges between single and between double asterisks within a line; bold text counts in both readings. */
function countHighlights(text: string): number {
  let count = 0;
  for (const [match] of text.matchAll(/\*[^\n*]*\*/g)) if (strip(strip(match, "*")) !== "") count++;
  for (const [match] of text.matchAll(/\*\*[^\n*]*\*\*/g)) {
    if (strip(removeSuffix(removePrefix(match, "**"), "**")) !== "") count++;
  }
  return count;
}

/** Whether a line contains `<<` and later `>>` with text between them. */
function hasTitle(text: string): boolean {
  return text.split("\n").some((line) => {
    const open = line.indexOf("<<");
    const close = line.lastIndexOf(">>");
    if (open < 0 || close < open + 3) return false;
    return strip(rstrip(lstrip(line.slice(open, close + 2), "<"), ">")) !== "";
  });
}

/** Whether the sentences are joined by hyphens without white space. */
function isHyphenated(text: string): boolean {
  const sentences = splitSentences(text.replaceAll("-", " "));
  const pieces = text.split("-");
  const count = Math.min(pieces.length, sentences.length);
  for (let index = 0; index < count; index++) {
    const piece = pieces[index] ?? "";
    if (strip(piece) !== piece || piece !== sentences[index]) return false;
  }
  return true;
}

function isBigramWrapped(text: string): boolean {
  const words = splitWords(text);
  for (let index = 0; index + 1 < words.length; index += 2) {
    if (!words[index]?.startsWith("<<") || !words[index + 1]?.endsWith(">>")) return false;
  }
  return true;
}

export const formatInstructions: Instructions = {
  "detectable_format:number_bullet_lists": {
    kwargs: ["num_bullets"],
    check: (text, kwargs) => countBullets(text) === kwargs.count("num_bullets"),
  },
  "detectable_format:constrained_response": {
    kwargs: [],
    check: (text) => CONSTRAINED.some((answer) => text.includes(answer)),
  },
  "detectable_format:number_highlighted_sections": {
    kwargs: ["num_highlights"],
    check: (text, kwargs) => countHighlights(text) >= kwargs.count("num_highlights"),
  },
  "detectable_format:multiple_sections": {
    kwargs: ["section_spliter", "num_sections"],
    check(text, kwargs) {
      const splitter = compilePyRegex(String.raw`\s?${strip(kwargs.text("section_spliter"))}\s?\d+\s?`);
      let pieces = 0;
      // Groups of the separator are separate pieces, as in Python's split.
      for (const _ of splitter.finditer(text)) pieces += 1 + splitter.groups;
      return pieces >= kwargs.count("num_sections");
    },
  },
  "detectable_format:json_format": { kwargs: [], check: isJson },
  "detectable_format:title": { kwargs: [], check: hasTitle },
  "detectable_format:sentence_hyphens": { kwargs: [], check: isHyphenated },
  "detectable_format:square_brackets": {
    kwargs: [],
    check: (text) => splitWords(text).every((word) => word.startsWith("[") && word.endsWith("]")),
  },
  "detectable_format:bigram_wrapping": { kwargs: [], check: isBigramWrapped },
};
