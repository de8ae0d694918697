import { createJudge, defineResourcesServer, type Judge, judgeConfig, loadPromptYaml } from "nemo-gym";
import { laxBool, outputText } from "nemo-gym/openai";
import { parsePyInt, strip } from "nemo-gym/python";
import { requireJudgeText } from "nemo-gym/verify";
import { z } from "zod";
import { bleu } from "../../libraries/text-measures/bleu.ts";
import { mean } from "../../libraries/text-measures/metrics.ts";
import { rouge } from "../../libraries/text-measures/rouge.ts";
import { type Aspect, aspectsOfTask, dimensionOf } from "./aspects.ts";
import { conversationText, messagesOf, nestedInstruction } from "./conversation.ts";
import { rolemrcMetrics } from "./metrics.ts";

const maxGeneration = 500;

const Config = z
  .object({
    ...judgeConfig,
    judge_model_server: judgeConfig.judge_model_server.nullish(),
    /** `reference`: similarity with the reference. `judge`: a judge checks the aspects of the task. */
    mode: z.enum(["reference", "judge"]).default("reference"),
    /** The original's name of "chat" is "chat_completions". */
    judge_api: z.preprocess(
      (given) => (given === "chat_completions" ? "chat" : given),
      z.enum(["chat", "responses"]).default("chat"),
    ),
    judge_chat_completion_create_params: judgeConfig.judge_responses_create_params,
    include_bertscore: laxBool()
      .default(false)
      .refine((enabled) => !enabled, { error: "BERTScore is not available here: set it to false" }),
  })
  .refine(({ mode, judge_model_server }) => mode === "reference" || judge_model_server != null, {
    error: "is required in the mode judge",
    path: ["judge_model_server"],
  });

/** Role play with reading comprehension, compared with a reference or judged. */
export default defineResourcesServer({
  config: Config,
  row: z.looseObject({
    reference: z.string().default(""),
    task: z.string().default(""),
    dimension: z.string().default(""),
    verifier_metadata: z.looseObject({ conversation: z.unknown() }).nullish(),
  }),
  seed: z.looseObject({ reference: z.string(), task: z.string() }),
  reverifyMode: "stateless",
  metrics: rolemrcMetrics,
  async start(server) {
    const { mode, judge_model_server, judge_api, ...config } = server.config;
    if (mode === "reference" || judge_model_server == null) return undefined;
    const { user } = await loadPromptYaml(server, "prompts/judge.yaml", [
      "criterion",
      "conversation",
      "response",
    ]);
    const chat = judge_api === "chat";
    const params = chat ? config.judge_chat_completion_create_params : config.judge_responses_create_params;
    const judge = createJudge(
      server,
      { ...config, judge_model_server },
      { api: judge_api, params: params ?? {} },
    );
    return { judge, prompt: user };
  },
  async verify({ row, response, params, state, signal }) {
    const answer = withoutReasoning(outputText(response));
    const result = {
      dimension: row.dimension || dimensionOf(row.task),
      generation: Array.from(answer.slice(0, 2 * maxGeneration))
        .slice(0, maxGeneration)
        .join(""),
    };
    if (!state) {
      const scores = rouge(answer, row.reference);
      return { reward: scores.rougeL, ...result, ...scores, bleu: bleu(answer, row.reference) };
    }
    const aspects = aspectsOfTask.get(row.task);
    if (!aspects) return { reward: 0, ...result, judge_skipped: true };
    const messages = messagesOf(row.verifier_metadata?.conversation, params.input);
    const ask = ({ criterion }: Aspect) =>
      askScore(
        state.judge,
        state.prompt.render({
          criterion: criterion.replace("{instruction}", () => nestedInstruction(messages)),
          conversation: state.judge.fit(conversationText(messages)),
          response: state.judge.fit(answer),
        }),
        signal,
      );
    return { ...result, ...(await judgeAspects(aspects, ask)) };
  },
});

interface Judgement {
  score: number | null;
  text: string;
}

/** Asks for one aspect after the other. If a call fails, the others are still made, and then the rollout fails. */
async function judgeAspects(aspects: readonly Aspect[], ask: (aspect: Aspect) => Promise<Judgement>) {
  const judged: (Judgement & { name: string })[] = [];
  const errors: unknown[] = [];
  for (const aspect of aspects) {
    try {
      judged.push({ name: aspect.name, ...(await ask(aspect)) });
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  return {
    reward: mean(judged.map(({ score }) => score ?? 0)),
    aspects: Object.fromEntries(judged.map(({ name, score }) => [name, score ?? 0])),
    n_aspects: judged.length,
    bad_aspects: judged.filter(({ score }) => score === null).map(({ name }) => name),
    judge_errors: [],
    judge_response: judged.at(-1)?.text ?? "",
    ...Object.fromEntries(judged.map(({ name, score }) => [`aspect_${name}`, score ?? 0])),
  };
}

/** The score must be a whole number; null for anything else. */
async function askScore(judge: Judge, prompt: string, signal: AbortSignal): Promise<Judgement> {
  let text = "";
  const { verdict } = await judge.ask(prompt, {
    signal,
    parse: (reply, whole) => {
      text = requireJudgeText(whole, withoutReasoning(reply));
      const score = parsePyInt(text.replaceAll("Score:", ""));
      return score === undefined ? null : Number(score);
    },
  });
  return { score: verdict, text };
}

/** The text after the last end of reasoning; a text without one as it is. */
function withoutReasoning(text: string): string {
  const end = /^[\s\S]*(?:<\/think>|<channel\|>)/.exec(text)?.[0].length;
  return end === undefined ? text : strip(text.slice(end));
}
