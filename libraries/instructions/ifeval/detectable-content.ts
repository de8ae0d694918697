import { compilePyRegex, strip } from "nemo-gym/python";
import type { Instructions } from "../instruction.ts";

/** The number of `[…]`, each within one line. */
function countPlaceholders(text: string): number {
  let count = 0;
  for (let at = text.indexOf("["); at >= 0; at = text.indexOf("[", at)) {
    const close = text.indexOf("]", at);
    if (close < 0) break;
    const lineEnd = text.indexOf("\n", at);
    if (lineEnd >= 0 && lineEnd < close) at = lineEnd + 1;
    else {
      count++;
      at = close + 1;
    }
  }
  return count;
}

/** Required content of a line; the marker is a Python pattern. */
function postscriptPattern(marker: string): string {
  if (marker === "P.P.S") return String.raw`\s*p\.\s?p\.\s?s.*$`;
  if (marker === "P.S.") return String.raw`\s*p\.\s?s\..*$`;
  return String.raw`\s*${marker.toLowerCase()}.*$`;
}

export const contentInstructions: Instructions = {
  "detectable_content:number_placeholders": {
    kwargs: ["num_placeholders"],
    check: (text, kwargs) => countPlaceholders(text) >= kwargs.count("num_placeholders"),
  },
  "detectable_content:postscript": {
    kwargs: ["postscript_marker"],
    check(text, kwargs) {
      const pattern = postscriptPattern(strip(kwargs.text("postscript_marker")));
      return compilePyRegex(pattern, { multiline: true }).search(text.toLowerCase()) !== null;
    },
  },
};
