import { createHash } from "node:crypto";
import { fieldOf } from "./subjects.ts";

const LETTERS = ["A", "B", "C", "D"] as const;
/** The URL namespace (RFC 4122), from which ids are derived. */
const URL_NAMESPACE = Buffer.from("6ba7b8119dad11d180b400c04fd430c8", "hex");

export interface Question {
  readonly subject: string;
  readonly question: string;
  readonly choices: readonly string[];
  /** A to D. */
  readonly answer: string;
}

/** A row of MMLU in table form: `question`, `subject`, `choices`, `answer` as an index or a letter. */
export function readRow(row: Readonly<Record<string, unknown>>, number: number): Question {
  const { question, subject, choices, answer } = row;
  const letter = typeof answer === "string" ? answer.trim().toUpperCase() : LETTERS[Number(answer)];
  const texts = Array.isArray(choices) ? choices.map(String) : [];
  if (
    typeof question !== "string" ||
    typeof subject !== "string" ||
    letter === undefined ||
    texts.length !== 4
  ) {
    throw new Error(
      `row ${number} needs 'question', 'subject', four 'choices' and 'answer', as MMLU has them`,
    );
  }
  return { subject, question, choices: texts, answer: letter };
}

/** Converts a question to a row of the benchmark. */
export function convertQuestion({ subject, question, choices, answer }: Question) {
  if (!(LETTERS as readonly string[]).includes(answer)) {
    throw new Error(
      `a question of ${subject} has the answer '${answer}', which is none of ${LETTERS.join(", ")}`,
    );
  }
  const field = fieldOf(subject);
  if (field === undefined) throw new Error(`MMLU has no subject '${subject}'`);
  const asked = question.trim();
  const listed = LETTERS.map((letter, index) => `${letter}. ${choices[index]}`).join("\n");
  return {
    question: asked,
    problem: `${asked}\n\n${listed}`,
    options: LETTERS.map((letter, index) => ({ [letter]: choices[index] ?? "" })),
    expected_answer: answer,
    subset_for_metrics: field,
    subject,
    uuid: nameBasedId(JSON.stringify([subject, asked, answer])),
  };
}

/** A version 5 UUID: equal texts have equal UUIDs. */
function nameBasedId(text: string): string {
  const hash = createHash("sha1").update(URL_NAMESPACE).update(text).digest().subarray(0, 16);
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  return hash.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
