import {
  type ChatPrompt,
  createJudge,
  type JsonObject,
  loadPromptYaml,
  perServer,
  type ServerContext,
} from "nemo-gym";
import { laxBool } from "nemo-gym/openai";
import { type Judge, type JudgeMessage, lastPartOfLastMessage } from "nemo-gym/verify";
import { z } from "zod";
import { type MathConfig, mathConfig } from "./config.ts";

/** The config keys of servers that ask a grader once, with a prompt from a file. */
export const promptedConfig = { ...mathConfig, judge_prompt_path: z.string().default("prompts/judge.yaml") };

/** Like {@link promptedConfig}, for graders that may not support the Responses API. */
export const graderConfig = { ...promptedConfig, use_chat_completions_for_judge: laxBool().default(false) };

type GraderConfig = MathConfig & { judge_prompt_path: string; use_chat_completions_for_judge?: boolean };

export interface Graded<Verdict> {
  verdict: Verdict | null;
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

  /** Asks once. `parse` reads the verdict from the last text of the reply; null: it has none. */
  async grade<Verdict>(
    values: Record<string, string>,
    parse: (text: string) => Verdict | null,
    signal: AbortSignal,
  ): Promise<Graded<Verdict>> {
    const fitted = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, this.#judge.fit(value)]),
    );
    const { system, user } = this.#prompt;
    const messages: JudgeMessage[] = [{ role: "user", content: user.render(fitted) }];
    if (system) messages.unshift({ role: "system", content: system.render(fitted) });
    const { verdict, params, response } = await this.#judge.ask(messages, {
      signal,
      parse: (_, reply) => parse(lastPartOfLastMessage(reply) ?? ""),
    });
    return { verdict, evaluation: { responses_create_params: params, response } };
  }
}

/** Parameters that have other names in the chat API. */
function chatParams({ judge_responses_create_params: params }: GraderConfig): JsonObject {
  const { input: _, max_output_tokens, ...rest } = params ?? {};
  return { ...rest, ...(max_output_tokens !== undefined && { max_tokens: max_output_tokens }) };
}
