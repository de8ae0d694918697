import { compilePyRegex, rstrip, splitLines, strip } from "nemo-gym/python";
import { lastClosedBoxed, unwrapText } from "nemo-gym/verify";

export const extractionModes = ["boxed", "final_answer", "last_line", "full_response"] as const;
export type ExtractionMode = (typeof extractionModes)[number];

/** The part of a text that counts as the answer; undefined if there is none. */
export function extractAnswer(text: string, mode: ExtractionMode): string | undefined {
  switch (mode) {
    case "boxed":
      return boxed(text);
    case "final_answer":
      return finalAnswer(text) ?? boxed(text);
    case "last_line":
      return splitLines(text)
        .map((line) => strip(line))
        .findLast((line) => line !== "");
    case "full_response":
      return strip(text) || undefined;
  }
}

function boxed(text: string): string | undefined {
  const content = lastClosedBoxed(text);
  return content === undefined ? undefined : strip(unwrapText(strip(content)));
}

const answerLine = compilePyRegex(String.raw`(?i)(?:final\s+answer|answer)\s*[:：]\s*(.+)`);

/** The rest of the line after the last `Answer:`, without trailing full stops. */
function finalAnswer(text: string): string | undefined {
  const last = answerLine.findall(text).at(-1);
  if (last === undefined) return undefined;
  const line = strip(last);
  return rstrip(strip(line.endsWith(".") ? line.slice(0, -1) : line), ".");
}
