import { splitWords } from "nemo-gym/python";

/** Answers that are right or wrong as a whole. */
const verdicts = new Set(["yes", "no", "noanswer"]);

/** The form in which SQuAD compares answers: lower case, without ASCII punctuation, articles and repeated spaces. */
function normalize(text: string): string {
  const bare = text.toLowerCase().replace(/[!-/:-@[-`{-~]/g, "");
  return splitWords(bare.replace(/(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu, " ")).join(" ");
}

export function exactMatch(answer: string, expected: string): boolean {
  return normalize(answer) === normalize(expected);
}

/** F1 of the bags of words; 0 if one side is yes or no and the other is something else. */
export function tokenF1(answer: string, expected: string): number {
  const [left, right] = [normalize(answer), normalize(expected)];
  if (left !== right && (verdicts.has(left) || verdicts.has(right))) return 0;
  const [found, wanted] = [splitWords(left), splitWords(right)];
  const remaining = new Map<string, number>();
  for (const word of wanted) remaining.set(word, (remaining.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of found) {
    const count = remaining.get(word) ?? 0;
    if (count > 0) shared++;
    remaining.set(word, count - 1);
  }
  if (shared === 0) return 0;
  const precision = shared / found.length;
  const recall = shared / wanted.length;
  return (2 * precision * recall) / (precision + recall);
}
