import { defineGymnasiumServer, HttpError } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { z } from "zod";

/** Asks scripted follow-up questions and grades the answer to the last one. */
export default defineGymnasiumServer({
  row: z.looseObject({ follow_ups: z.unknown().optional(), expected_answer: z.unknown().optional() }),
  seed: z.looseObject({ expected_answer: z.string().min(1) }),
  reset: () => ({ session: { turn: 0 } }),
  unseeded: () => ({ turn: 0 }),
  keepFinished: true,
  step({ row, response, session }) {
    const questions = followUps(row.follow_ups);
    if (session.turn < questions.length) {
      const question = questions[session.turn++];
      if (typeof question !== "string" && question !== null) throw malformed(question);
      return question === null ? {} : { observation: question };
    }
    const expected = row.expected_answer;
    const text = outputText(response).toLowerCase();
    const right = typeof expected === "string" && expected !== "" && text.includes(expected.toLowerCase());
    return { reward: right ? 1 : 0, terminated: true };
  },
});

/**
 * The questions of a row; each one is checked when its turn comes. A plain string is iterated by character, as a sequence of
 * one-letter questions.
 */
function followUps(value: unknown = []): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value === "string") return [...value];
  if (typeof value === "object" && value !== null && Object.keys(value).length === 0) return [];
  throw malformed(value);
}

function malformed(input: unknown): HttpError {
  const msg = "Input should be a list of strings";
  return new HttpError(422, [{ type: "string_type", loc: ["body", "follow_ups"], msg, input }]);
}
