import { type BaseMessage, coerceMessageLikeToMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { type FrameworkRun, type frameworkAgentConfig, langChainMessages } from "nemo-gym/agents";
import type { z } from "zod";

export type GraphRun<Config = z.output<typeof frameworkAgentConfig>> = FrameworkRun<Config>;

/** LangChain's client on the model server's `/v1/chat/completions`. */
export function chatModel({ model }: Pick<GraphRun, "model">): ChatOpenAI {
  return new ChatOpenAI({
    model: model.name,
    apiKey: model.apiKey,
    // The gym's client has already retried.
    maxRetries: 0,
    configuration: { baseURL: model.baseUrl, fetch: model.fetch },
  });
}

/** Settings of every `invoke`. The gym counts model calls (`max_steps`), so the graph has no step limit. */
export const invocation = ({ signal }: Pick<GraphRun, "signal">) => ({
  signal,
  recursionLimit: Number.MAX_SAFE_INTEGER,
});

/** The conversation of the request as LangChain messages. */
export const conversation = ({ messages }: Pick<GraphRun, "messages">): BaseMessage[] =>
  langChainMessages(messages, coerceMessageLikeToMessage);

/** Asks one question in a separate conversation and returns the answer as text. */
export async function ask(
  model: ChatOpenAI,
  question: string | BaseMessage[],
  signal: AbortSignal,
): Promise<string> {
  return (await model.invoke(question, { signal })).text;
}

/** The task: the text of the last user message. */
export function taskOf({ messages }: Pick<GraphRun, "messages">): string {
  const content = messages.findLast(({ role }) => role === "user")?.content ?? "";
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part ? part.text : "")).join("\n");
}
