import { strip } from "nemo-gym/python";

export const verdicts = { A: "correct", B: "incorrect", C: "not_attempted" } as const;
export type Grade = keyof typeof verdicts;

const grades: readonly Grade[] = ["A", "B", "C"];

/** The grade in a judge's reply: its first letter, the first letter of its last line, or the first A, B or C in it. */
export function readGrade(reply: string): Grade | null {
  const text = strip(reply);
  const lastLine = strip(text.slice(text.lastIndexOf("\n") + 1));
  return (
    grades.find((grade) => text.startsWith(grade)) ??
    grades.find((grade) => lastLine.startsWith(grade)) ??
    grades.find((grade) => text.includes(grade)) ??
    null
  );
}
