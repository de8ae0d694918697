import {
  allAssistantText,
  createJudge,
  defineResourcesServer,
  type JsonObject,
  judgeConfig,
  loadPromptYaml,
} from "nemo-gym";
import { laxBool } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";
import { falseStatementMetrics } from "./metrics.ts";

const Config = z.object({
  ...judgeConfig,
  judge_prompt_path: z.string().default("prompts/judge.yaml"),
  /** For judges that do not support the Responses API. */
  use_chat_completions_for_judge: laxBool().default(false),
});

const text = z
  .string()
  .nullish()
  .transform((given) => given ?? null);

const MAX_POINTS = 2;

/** Claims that are false: a judge decides whether the model noticed it. */
export default defineResourcesServer({
  config: Config,
  row: z.looseObject({ question: text, original_problem: text }),
  seed: z.looseObject({ question: z.string(), original_problem: z.string() }),
  metrics: falseStatementMetrics,
  reverifyMode: "stateless",
  async start(server) {
    const { config } = server;
    const fields = ["problem", "original_problem", "predicted_answer"];
    const { user } = await loadPromptYaml(server, config.judge_prompt_path, fields);
    const chat = config.use_chat_completions_for_judge;
    const options = chat ? { api: "chat" as const, params: chatParams(config), allowNoChoices: true } : {};
    return { judge: createJudge(server, config, options), prompt: user };
  },
  async verify({ row, response, state: { judge, prompt }, signal }) {
    const prompted = prompt.render({
      problem: row.question ?? "",
      original_problem: row.original_problem ?? "",
      predicted_answer: judge.fit(withoutThinking(allAssistantText(response))),
    });
    const asked = await judge.ask(prompted, {
      signal,
      parse: (_, reply) => readPoints(allAssistantText(reply)),
    });
    return {
      reward: (asked.verdict ?? 0) / MAX_POINTS,
      judge_output: allAssistantText(asked),
      judge_points: asked.verdict,
    };
  },
});

/** The first points after the judge's thinking, else the first within it. */
function readPoints(reply: string): number | null {
  for (const searched of [withoutThinking(reply), reply]) {
    const [, points] = /<points>\s*([0-9]+)\s*<\/points>/i.exec(searched) ?? [];
    if (points !== undefined) return Math.min(Number(points), MAX_POINTS);
  }
  return null;
}

/** Removes thinking, also with tags that differ, and everything before an unmatched closing tag. */
function withoutThinking(reply: string): string {
  const pairless = reply.replace(/<think(?:ing)?>.*?<\/think(?:ing)?>/gis, "");
  const [, rest = pairless] = /^.*?<\/think(?:ing)?>(.*)$/is.exec(pairless) ?? [];
  return strip(rest);
}

function chatParams({ judge_responses_create_params: params }: z.output<typeof Config>): JsonObject {
  const { max_output_tokens, temperature, top_p } = params ?? {};
  return {
    ...(max_output_tokens != null && { max_tokens: max_output_tokens }),
    ...(temperature != null && { temperature }),
    ...(top_p != null && { top_p }),
  };
}
