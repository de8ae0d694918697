import {
  createJudge,
  type JsonObject,
  judgeConfig,
  loadPromptYaml,
  type PromptTemplate,
  type ServerContext,
} from "nemo-gym";
import { laxBool } from "nemo-gym/openai";
import { type Judge, lastTextMessage, stripThinking } from "nemo-gym/verify";
import { z } from "zod";

/** The config keys of servers that ask a judge once about an answer, with a prompt from a YAML file. */
export const answerJudgeConfig = {
  ...judgeConfig,
  judge_prompt_path: z.string().default("prompts/judge.yaml"),
  /** For judges that do not support the Responses API. */
  use_chat_completions_for_judge: laxBool().default(false),
};
const AnswerJudgeConfig = z.object(answerJudgeConfig);
export type AnswerJudgeConfig = z.output<typeof AnswerJudgeConfig>;

/** Parameters of a chat judge that answers with a letter. */
export function letterChatParams({ judge_responses_create_params: params }: AnswerJudgeConfig): JsonObject {
  return {
    max_tokens: params?.["max_output_tokens"] || 64,
    temperature: params?.["temperature"] || 0,
    top_p: params?.["top_p"] || 1,
  };
}

/** Creates the judge of a config and reads its prompt, which may only contain `fields`. */
export async function startAnswerJudge<Config extends AnswerJudgeConfig>(
  server: ServerContext<Config>,
  fields: readonly string[],
  chatParams: (config: Config) => JsonObject = letterChatParams,
): Promise<{ judge: Judge; prompt: PromptTemplate }> {
  const { config } = server;
  const { user: prompt } = await loadPromptYaml(server, config.judge_prompt_path, fields);
  const chat = config.use_chat_completions_for_judge;
  return {
    judge: createJudge(server, config, chat ? { api: "chat", params: chatParams(config) } : {}),
    prompt,
  };
}

/** The last message of the model without its reasoning; "" if the reasoning never ends. */
export function finalAnswer(response: Parameters<typeof lastTextMessage>[0]): string {
  const text = lastTextMessage(response);
  const opened = /<think(?:ing)?>/.test(text);
  const closed = /<\/think(?:ing)?>/.test(text);
  return opened && !closed ? "" : stripThinking(text);
}

/** A field that the result repeats as null if the row does not have it. */
export const optionalText = () =>
  z
    .string()
    .nullish()
    .transform((text) => text ?? null);

/** The `id` of a question. */
export const optionalId = () =>
  z
    .union([z.number().int(), z.string()])
    .nullish()
    .transform((id) => id ?? null);
