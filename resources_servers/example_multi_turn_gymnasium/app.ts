import { defineGymnasiumServer, HttpError } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { z } from "zod";

/** Asks scripted follow-up questions and grades the answer to the last one. */
export default defineGymnasiumServer({
  row: z.looseObject({ follow_ups: z.unknown().optional(), expected_answer: z.unknown().optional() }),
  reset: () => ({ session: { turn: 0 } }),
  unseeded: () => ({ turn: 0 }),
  keepFinished: true,
  step({ row, response, session }) {
    const question = followUps(row.follow_ups)[session.turn];
    if (question !== undefined) {
      session.turn++;
      return { observation: question };
    }
    const expected = row.expected_answer;
    const text = outputText(response).toLowerCase();
    const right = typeof expected === "string" && expected !== "" && text.includes(expected.toLowerCase());
    return { reward: right ? 1 : 0, terminated: true };
  },
});

const FollowUps = z.union([z.array(z.string()), z.string()]);

/** The questions of a row; a bare text is walked character by character, as a sequence of one-letter questions. */
function followUps(value: unknown): string[] {
  const { success, data } = FollowUps.safeParse(value ?? []);
  if (success) return [...data];
  throw new HttpError(422, [
    {
      type: "string_type",
      loc: ["body", "follow_ups"],
      msg: "Input should be a list of strings",
      input: value,
    },
  ]);
}
