import { SPACE_CLASS, splitLines, strip } from "nemo-gym/python";
import { removeTagged } from "../../libraries/text-measures/tagged.ts";
import { normalize } from "./labels.ts";

const space = `[${SPACE_CLASS}]`;
const tick = "`";
const rest = `${space}*([^\\n]+)`;
/** `Final answer: …` and the like; markdown may stand around the words. The last match of the first pattern that has one counts. */
const patterns = [
  ...["final answer", "selected answer", "answer"].map((words) => ({
    pattern: String.raw`${spaced(words)}(?:${space}+is)?[*_${tick}${SPACE_CLASS}]*[:\-]${rest}`,
    atLineStart: true,
  })),
  {
    pattern: `answer${space}+(?:${spaced("is|would be|should be")})${space}*[:\\-]?${rest}`,
    atLineStart: false,
  },
  {
    pattern: `selected${space}+(?:option|answer)${space}+(?:${spaced("is|would be")})${space}*[:\\-]?${rest}`,
    atLineStart: false,
  },
].map(({ pattern, atLineStart }) => ({
  regex: new RegExp(`(?<![\\p{L}\\p{N}_])${pattern}`, "giu"),
  atLineStart,
}));
const markdown = new RegExp(`[*_\`#>\\-${SPACE_CLASS}]`);
const reasoningStarts = ["thinking process", "analysis", "the user wants", "we need"];

function spaced(words: string): string {
  return words.replaceAll(" ", `${space}+`);
}

/** The answer in a text: what follows `Final answer:` and similar words, else the first line. */
export function extractAnswer(text: string): string {
  const thoughtless = removeTagged(
    removeTagged(text, "<think>", "</think>"),
    "<|channel>thought",
    "<channel|>",
  );
  const answer = strip(thoughtless);
  const declared = declaredAnswer(answer);
  const lines = splitLines(declared ?? answer)
    .map((line) => cleanLine(line))
    .filter((line) => line !== "" && !["answer", "final answer"].includes(normalize(line)));
  const [first = ""] = lines;
  const reasoned =
    declared === undefined && reasoningStarts.some((start) => normalize(first).startsWith(start));
  return (reasoned ? lines.at(-1) : first) ?? "";
}

function declaredAnswer(text: string): string | undefined {
  for (const { regex, atLineStart } of patterns) {
    const last = [...text.matchAll(regex)].findLast(
      (match) => (!atLineStart || beginsLine(text, match.index)) && isAnswer(match[1] ?? ""),
    );
    if (last) return last[1];
  }
  return undefined;
}

/** A template that the answer repeats is not an answer. */
function isAnswer(text: string): boolean {
  return strip(text) !== "" && normalize(text) !== "candidate answer";
}

/** Whether only markdown stands between the start of the line and the position. */
function beginsLine(text: string, position: number): boolean {
  let start = position;
  while (start > 0 && text[start - 1] !== "\n" && markdown.test(text[start - 1] ?? "")) start--;
  return start === 0 || text[start - 1] === "\n";
}

function cleanLine(line: string): string {
  const bare = strip(line)
    .replace(new RegExp(`^[-*•${SPACE_CLASS}]+|\\*+$`, "gu"), "")
    .replace(/<\/?think>/gi, "");
  return strip(strip(bare), "\"'` ");
}
