import { codePointLength, strip } from "nemo-gym/python";
import { escapePattern } from "../../libraries/text-measures/tagged.ts";

const shortLength = 4;
const longLength = 80;
const latestStart = 40;

export function containsAnswer(text: string, alternatives: readonly string[]): boolean {
  const answer = comparable(text);
  return alternatives.some((alternative) => answer.includes(comparable(alternative)));
}

/** Short alternatives must be words of their own. In a long answer the first occurrence must be near the start. */
export function containsAnswerStrictly(text: string, alternatives: readonly string[]): boolean {
  const answer = comparable(text);
  const isLong = codePointLength(answer) > longLength;
  return alternatives.some((alternative) => {
    const wanted = comparable(alternative);
    const start = answer.indexOf(wanted);
    if (wanted === "" || start < 0) return false;
    if (codePointLength(wanted) <= shortLength && !wordPattern(wanted).test(answer)) return false;
    return !isLong || codePointLength(answer.slice(0, start)) <= latestStart;
  });
}

function wordPattern(word: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escapePattern(word)}(?![\\p{L}\\p{N}_])`, "u");
}

/** Lower case, with plain spaces, hyphens and quotes. */
function comparable(text: string): string {
  const plain = text
    .toLowerCase()
    .replace(/[\u{202f}\u{a0}\u{2009}\u{200a}\u{2002}\u{2003}]/gu, " ")
    .replace(/[\u{2010}-\u{2015}]/gu, "-")
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"');
  return strip(plain.replace(/ {2,}/g, " "));
}
