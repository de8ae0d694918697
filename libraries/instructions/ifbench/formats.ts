import { lstrip, splitWords, strip } from "nemo-gym/python";
import type { Instructions } from "../instruction.ts";
import { splitSentences } from "../text/index.ts";
import { PUNCTUATION, withoutPunctuation } from "../text/punctuation.ts";

const EDGES = `${PUNCTUATION} `;
const LETTERED = /^[^\p{L}\p{N}_]*[aA][^\p{L}\p{N}_]*[bB][^\p{L}\p{N}_]*[cC]/u;
const OPENING: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

/** Whether brackets are nested five levels deep and then closed. A bracket that does not fit starts anew. */
function hasDeepBrackets(text: string): boolean {
  let open: string[] = [];
  let deepest = 0;
  for (const [character] of text.matchAll(/[()[\]{}]/g)) {
    const opening = OPENING[character];
    if (opening === undefined) deepest = Math.max(deepest, open.push(character));
    else if (open.at(-1) === opening) {
      open.pop();
      if (deepest >= 5) return true;
    } else {
      open = [];
      deepest = 0;
    }
  }
  return false;
}

/** Whether quotes are nested three levels deep and then closed. */
function hasDeepQuotes(text: string): boolean {
  const open: string[] = [];
  let deepest = 0;
  for (const [quote] of text.matchAll(/["']/g)) {
    if (open.at(-1) === quote) {
      open.pop();
      if (deepest - open.length >= 3) return true;
    } else deepest = Math.max(deepest, open.push(quote));
  }
  return false;
}

/** The lines of a text without blank ones. As in the original, a blank line after another blank line stays. */
function filledLines(lines: string[]): string[] {
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? "";
    if (strip(line) === "") lines.splice(lines.indexOf(line), 1);
  }
  return lines;
}

/** Whether every line is indented more than the one before it. */
function isStairs(text: string): boolean {
  const lines = text.split("\n");
  // At least half of the lines stay, and stairs of that many lines have more characters.
  if (lines.length ** 2 / 8 > text.length) return false;
  const depths = filledLines(lines).map(indentation);
  return depths.every((depth, index) => index === 0 || depth > (depths[index - 1] ?? 0));
}

function indentation(line: string): number {
  return line.length - lstrip(line, " ").length;
}

/** At least two sentences, then nothing but at least two bullets. After a blank line only bullets may follow. */
function endsInBullets(text: string): boolean {
  let sentences = 0;
  let bullets = 0;
  let inText = true;
  for (const line of text.split("\n").map((raw) => strip(raw))) {
    if (line.startsWith("*")) {
      if (sentences < 2) return false;
      inText = false;
      bullets++;
    } else {
      if (!inText) return false;
      const found = splitSentences(line).length;
      sentences += found;
      inText = found > 0;
    }
  }
  return bullets >= 2;
}

/** A thesis in italics that is followed by text. */
function hasThesis(text: string): boolean {
  const start = indexOfFirst(text, ["<i>", "<em>"]);
  if (start < 0) return false;
  const section = text.slice(start);
  const end = indexOfFirst(section, ["</i>", "</em>"]);
  return end >= 0 && strip(section.slice(3, end)) !== "" && strip(section.slice(end + 4)) !== "";
}

function indexOfFirst(text: string, tags: readonly string[]): number {
  return tags.map((tag) => text.indexOf(tag)).find((index) => index >= 0) ?? -1;
}

export const formatInstructions: Instructions = {
  "format:parentheses": { kwargs: [], check: hasDeepBrackets },
  "format:quotes": { kwargs: [], check: hasDeepQuotes },
  "format:options": {
    kwargs: ["options"],
    check(text, kwargs) {
      const listed = kwargs.required("options");
      const separator = ["/", "or"].find((word) => listed.includes(word)) ?? ",";
      const options = listed.split(separator).map((option) => strip(option));
      if (LETTERED.test(listed)) return options.includes(text);
      const bare = (option: string) => strip(option, EDGES).toLowerCase();
      return options.some((option) => bare(option) === bare(text));
    },
  },
  "format:newline": {
    kwargs: [],
    check(text) {
      const plain = strip(withoutPunctuation(text));
      const lines = plain.split("\n").filter((line) => line !== "");
      return lines.length === splitWords(plain).length;
    },
  },
  "format:line_indent": { kwargs: [], check: isStairs },
  "format:quote_unquote": {
    kwargs: [],
    check(text) {
      const plain = text.replace(/[“”]/g, '"').replaceAll("'\"'", "");
      const joined = splitWords(plain).join("");
      const rest = strip(joined, `0123456789${PUNCTUATION.replace('"', "")}`);
      return !joined.includes('""') && rest !== "" && !rest.endsWith('"');
    },
  },
  "format:list": {
    kwargs: ["sep"],
    check: (text, kwargs) => text.split(kwargs.required("sep")).length > 2,
  },
  "format:thesis": { kwargs: [], check: hasThesis },
  "format:sub-bullets": {
    kwargs: [],
    check: (text) =>
      text
        .split("*")
        .slice(1)
        .every((bullet) => bullet.includes("-")),
  },
  "format:no_bullets_bullets": { kwargs: [], check: endsInBullets },
  "format:output_template": {
    kwargs: [],
    check: (text) =>
      ["My Answer:", "My Conclusion:", "Future Outlook:"].every((heading) => text.includes(heading)),
  },
  "format:no_whitespace": { kwargs: [], check: (text) => text !== "" && splitWords(text)[0] === text },
};
