import { allAssistantText, createJudge, defineResourcesServer, judgeConfig, loadPromptYaml } from "nemo-gym";
import { loadsPlain } from "nemo-gym/python";
import { z } from "zod";

const Row = z.looseObject({
  example_id: z.string(),
  problem: z.string(),
  answer: z.string(),
  answer_type: z.string(),
  problem_category: z.string(),
});

const Verdict = z.object({
  "Answer Correctness": z.looseObject({
    "Correctness Details": z
      .record(z.string(), z.boolean())
      .refine((details) => Object.keys(details).length > 0),
    "Excessive Answers": z.array(z.string()).optional(),
  }),
});
type Verdict = z.output<typeof Verdict>["Answer Correctness"];

const INVALID = { error: "invalid judge output" };

/** Questions whose answer is one item or a set of items; a judge marks the items that were found. */
export default defineResourcesServer({
  config: z.object({ ...judgeConfig, judge_prompt_path: z.string().default("prompts/judge.yaml") }),
  row: Row,
  reverifyMode: "stateless",
  async start(server) {
    const fields = ["problem", "answer_type", "answer", "response"];
    const { user } = await loadPromptYaml(server, server.config.judge_prompt_path, fields);
    return { judge: createJudge(server, server.config), prompt: user };
  },
  async verify({ row, response, state: { judge, prompt }, signal }) {
    const text = prompt.render({
      problem: row.problem,
      answer_type: row.answer_type,
      answer: judge.fit(row.answer),
      response: judge.fit(allAssistantText(response)),
    });
    const { verdict } = await judge.ask(text, {
      signal,
      parse: (_, reply) => readVerdict(allAssistantText(reply)),
    });
    const found = Object.values(verdict?.["Correctness Details"] ?? {});
    const right = found.filter(Boolean).length;
    const excess = verdict?.["Excessive Answers"]?.length ?? 0;
    const precision = right > 0 ? right / (right + excess) : 0;
    const recall = right > 0 ? right / found.length : 0;
    const f1 = right > 0 ? (2 * precision * recall) / (precision + recall) : 0;
    const isComplete = right > 0 && right === found.length;
    return {
      reward: f1,
      precision,
      recall,
      f1,
      fully_correct: Number(isComplete && excess === 0),
      fully_incorrect: Number(right === 0),
      correct_with_extraneous: Number(isComplete && excess > 0),
      judge_output: verdict ?? INVALID,
    };
  },
});

/** The JSON object of the last fenced block, else of the whole text. */
function readVerdict(text: string): Verdict | null {
  const fenced = [...text.matchAll(/```(?:json)?\s*(\{.*?\})\s*```/gs)].at(-1)?.[1];
  try {
    return Verdict.safeParse(loadsPlain(fenced ?? text)).data?.["Answer Correctness"] ?? null;
  } catch {
    return null;
  }
}
