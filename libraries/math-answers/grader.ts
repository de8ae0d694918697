import {
  type ChatPrompt,
  createJudge,
  type JsonObject,
  loadPromptYaml,
  perServer,
  type ServerContext,
} from "nemo-gym";
import { laxBool } from "nemo-gym/openai";
import type { Judge, JudgeMessage, JudgeReply } from "nemo-gym/verify";
import { z } from "zod";
import { type MathConfig, mathConfig } from "./config.ts";

/** The config keys of servers that ask a grader once, with a prompt from a file. */
export const promptedConfig = { ...mathConfig, judge_prompt_path: z.string().default("prompts/judge.yaml") };

/** Like {@link promptedConfig}, for graders that may not support the Responses API. */
export const graderConfig = { ...promptedConfig, use_chat_completions_for_judge: laxBool().default(false) };

type GraderConfig = MathConfig & { judge_prompt_path: string; use_chat_completions_for_judge?: boolean };

export interface Graded {
  reply: JudgeReply;
  evaluation: JsonObject;
}

/** The grader of a server. Its prompt is read once, before the server starts, and may only contain `fields`. */
export function graderOf(
  fields: readonly string[],
): (server: ServerContext<GraderConfig>) => Promise<Grader> {
  return perServer(async (server: ServerContext<GraderConfig>) => {
    const { config } = server;
    const prompt = await loadPromptYaml(server, config.judge_prompt_path, fields);
    const chat = config.use_chat_completions_for_judge === true;
    return new Grader(
      createJudge(server, config, chat ? { api: "chat", params: chatParams(config) } : {}),
      prompt,
    );
  });
}

class Grader {
  readonly #judge: Judge;
  readonly #prompt: ChatPrompt;

  constructor(judge: Judge, prompt: ChatPrompt) {
    this.#judge = judge;
    this.#prompt = prompt;
  }

  async grade(values: Record<string, string>, signal: AbortSignal): Promise<Graded> {
    const fitted = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, this.#judge.fit(value)]),
    );
    const { system, user } = this.#prompt;
    const messages: JudgeMessage[] = [{ role: "user", content: user.render(fitted) }];
    if (system) messages.unshift({ role: "system", content: system.render(fitted) });
    const reply = await this.#judge.ask(messages, { signal });
    return { reply, evaluation: { responses_create_params: reply.params, response: reply.response } };
  }
}

/** Parameters that have other names in the chat API. */
function chatParams({ judge_responses_create_params: params }: GraderConfig): JsonObject {
  const { input: _, max_output_tokens, ...rest } = params ?? {};
  return { ...rest, ...(max_output_tokens !== undefined && { max_tokens: max_output_tokens }) };
}
