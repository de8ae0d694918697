import { splitWords } from "nemo-gym/python";

/** Neither a word character nor white space. */
const OTHER = /[^\p{L}\p{N}_\s\u{1c}-\u{1f}\u{85}]/gu;

/** A grid of colours, row by row. */
export type Grid = number[][];

/** Reads a grid from an answer: the single digits of each line, from the box if there is one. */
export function readGrid(answer: string): Grid | null {
  const text = /\\boxed\{([\s\S]+)\}/.exec(answer)?.[1] ?? answer;
  const rows = text.split("\n").flatMap((line) => {
    const words = splitWords(line.replace(OTHER, ""));
    const digits = words.filter((word) => /^[0-9]$/.test(word)).map(Number);
    return digits.length > 0 ? [digits] : [];
  });
  const width = rows[0]?.length;
  return width !== undefined && rows.every((row) => row.length === width) ? rows : null;
}

/** The program of an answer: its last Python block, else its last block without a language, else the whole answer. */
export function readProgram(answer: string): string | undefined {
  for (const pattern of [/```python\s*\n([\s\S]*?)```/g, /```\s*\n([\s\S]*?)```/g]) {
    const last = [...answer.matchAll(pattern)].at(-1)?.[1];
    if (last !== undefined) return last;
  }
  return answer.includes("def transform") ? answer : undefined;
}
