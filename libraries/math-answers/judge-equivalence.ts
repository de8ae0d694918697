import { compilePrompt, createJudge, type JsonObject, perServer, type ServerContext } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { firstLabel, lastBoxed, lastPartOfLastMessage } from "nemo-gym/verify";
import { type AnswerArgs, verifyAnswer } from "./compare-answer.ts";
import type { MathConfig } from "./config.ts";

const EQUAL = "[[A=B]]";
const DIFFERENT = "[[A!=B]]";

const SYSTEM = `You compare two answers to the same mathematical question. Decide whether they state the same result; do not solve the question, and do not prefer either answer.

Different notation for one value is equal: fractions and decimals that are exactly equal, factored and expanded expressions, reordered sets, a missing unit, a variable name before the value. A different value, sign, number of solutions or precision is not equal. An answer that states no result is different from one that does.

Give your reasons in at most three sentences. End with ${EQUAL} if the answers are equal, else with ${DIFFERENT}.`;

const USER = compilePrompt(
  "Question:\n{question}\n\n<answer_a>\n{first}\n</answer_a>\n\n<answer_b>\n{second}\n</answer_b>",
);

export interface Evaluation extends JsonObject {
  responses_create_params: JsonObject;
  response: JsonObject;
  verdict_label: string | null;
}

interface Judgement {
  equal: boolean;
  evaluations: Evaluation[];
}

const judgeOf = perServer((server: ServerContext<MathConfig>) =>
  createJudge(server, server.config, { systemMessage: SYSTEM }),
);

/** Asks whether two answers are equal, and again in reverse order, because judges tend to favour one position. Both replies must agree. */
async function judgeEquivalence(
  server: ServerContext<MathConfig>,
  question: string,
  [expected, given]: readonly [string, string],
  signal: AbortSignal,
): Promise<Judgement> {
  const judge = judgeOf(server);
  const evaluations: Evaluation[] = [];
  for (const [first, second] of [
    [expected, given],
    [given, expected],
  ] as const) {
    const prompt = USER.render({
      question: judge.fit(question),
      first: judge.fit(first),
      second: judge.fit(second),
    });
    const { verdict: verdict_label, ...reply } = await judge.ask(prompt, {
      signal,
      parse: (_, reply) => firstLabel(lastPartOfLastMessage(reply) ?? "", [DIFFERENT, EQUAL]),
    });
    evaluations.push({ responses_create_params: reply.params, response: reply.response, verdict_label });
    if (verdict_label !== EQUAL) return { equal: false, evaluations };
  }
  return { equal: true, evaluations };
}

/**
 * The verifier of `math_with_judge`. The answer is the last `\boxed{…}`; without a complete one the reward is 0. If it
 * differs from the expected answer, a judge may find the two equal.
 */
export async function verifyWithJudge(args: AnswerArgs & { row: { question: string } }) {
  const { server, signal, row, response } = args;
  const boxed = lastBoxed(outputText(response));
  if (boxed === undefined || strip(boxed) === "")
    return { reward: 0, library_reward: 0, extracted_answer: null, judge_evaluations: null };
  return verifyAnswer(args, async () => {
    const answers = [row.expected_answer, boxed] as const;
    const { equal, evaluations } = await judgeEquivalence(server, row.question, answers, signal);
    return { correct: equal, evaluations };
  });
}
