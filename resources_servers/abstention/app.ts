import { createJudge, defineResourcesServer, judgeConfig, promptFrom } from "nemo-gym";
import { SPACE_CLASS, splitWords } from "nemo-gym/python";
import {
  lastBoxed,
  lastTextMessage,
  letterGrade,
  requireJudgeText,
  statedGrade,
  stripThinking,
} from "nemo-gym/verify";
import { z } from "zod";
import { optionalId, optionalText } from "../../libraries/answer-judge/answer-judge.ts";

const verdicts = { A: "correct", B: "incorrect", C: "abstain" } as const;
const LETTERS = ["A", "B", "C"] as const;

/** Questions of fact with a middle reward for saying that one does not know. */
export default defineResourcesServer({
  config: z.object({
    ...judgeConfig,
    judge_prompt_template: z.string().nullish(),
    /** An answer that equals it, apart from case, articles and punctuation, abstains. */
    abstention_token: z.string().default("[IDK]"),
    correct_reward: z.number().default(1),
    abstention_reward: z.number().default(0.5),
    incorrect_reward: z.number().default(0),
  }),
  row: z.looseObject({ id: optionalId(), question: optionalText(), answer: optionalText() }),
  seed: z.looseObject({ question: z.string(), answer: z.string() }),
  async start(server) {
    const fields = ["question", "target", "predicted_answer"];
    const prompt = await promptFrom(server, server.config.judge_prompt_template, "prompts/judge.txt", fields);
    return { judge: createJudge(server, server.config), prompt };
  },
  async verify({ config, state: { judge, prompt }, signal, row, response }) {
    const text = stripThinking(lastTextMessage(response));
    const extracted_answer = lastBoxed(text) ?? text;
    const ground_truth = row.answer ?? "";
    let verdict: (typeof verdicts)[keyof typeof verdicts] = "abstain";
    let judge_output: string | null = null;
    if (normalize(extracted_answer) !== normalize(config.abstention_token)) {
      const question = prompt.render({
        question: row.question ?? "",
        target: judge.fit(ground_truth),
        predicted_answer: judge.fit(extracted_answer),
      });
      const parse = (reply: string) => statedGrade(stripThinking(reply), LETTERS);
      const asked = await judge.ask(question, { signal, parse });
      judge_output = requireJudgeText(asked, stripThinking(asked.text));
      // Of an unclear reply the first letter anywhere counts, and without one it is incorrect, as in the original.
      verdict = verdicts[asked.verdict ?? letterGrade(judge_output, LETTERS) ?? "B"];
    }
    const is_correct = Number(verdict === "correct");
    const is_incorrect = Number(verdict === "incorrect");
    return {
      reward: config[`${verdict === "abstain" ? "abstention" : verdict}_reward`],
      extracted_answer,
      ground_truth,
      verdict,
      judge_output,
      is_correct,
      is_abstain: Number(verdict === "abstain"),
      is_incorrect,
      omniscience_index: is_correct - is_incorrect,
    };
  },
});

const articles = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;
const punctuation = new RegExp(`[^\\p{L}\\p{N}_${SPACE_CLASS}]`, "gu");

function normalize(answer: string): string {
  const words = answer.toLowerCase().replace(articles, " ").replace(punctuation, "");
  return splitWords(words).join(" ");
}
