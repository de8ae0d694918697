import { allAssistantText, type RolloutScope, type ServerContext } from "nemo-gym";
import { callModel } from "nemo-gym/agents";
import {
  accumulateUsage,
  type ResponseCreateParams,
  type ResponseInputItem,
  type ResponseOutputItem,
  textParts,
  type Usage,
} from "nemo-gym/openai";

/** Settings of the user's side of a conversation. */
export interface SimulatedUserOptions {
  modelServer: string;
  /** Who the user is and what they want. */
  instructions: string;
  stopWords: readonly string[];
  params: Record<string, unknown>;
  server: ServerContext<unknown>;
  rollout: RolloutScope;
  signal: AbortSignal;
  timeoutMs: number | null;
}

type Item = ResponseInputItem | ResponseOutputItem;

/** A model that plays the user. It sees only what a user would see: the messages, not the tools. */
export class SimulatedUser {
  usage: Usage | null = null;
  calls = 0;
  readonly #options: SimulatedUserOptions;

  constructor(options: SimulatedUserOptions) {
    this.#options = options;
  }

  /** The next message of the user; `isOver` if the user is done. */
  async reply(conversation: readonly Item[]): Promise<{ text: string; isOver: boolean }> {
    const { modelServer, instructions, stopWords, params, server, rollout, signal, timeoutMs } =
      this.#options;
    const { response } = await callModel(server.client, {
      modelServer,
      params: {
        ...params,
        input: [{ role: "system", content: instructions, type: "message" }, ...mirrored(conversation)],
      } as ResponseCreateParams,
      // The tokens of the user are not training data.
      rollout: { ...rollout, modelPrefix: rollout.prefix },
      signal,
      timeoutMs,
    });
    this.calls++;
    this.usage = accumulateUsage(this.usage, response.usage);
    const answer = allAssistantText(response);
    const ending = stopWords.find((word) => answer.includes(word));
    const text = ending === undefined ? answer : answer.slice(0, answer.indexOf(ending));
    return { text: text.trim(), isOver: ending !== undefined };
  }
}

/** The conversation from the user's side: the assistant's messages become user messages, and the user's become assistant messages. */
function mirrored(conversation: readonly Item[]): ResponseInputItem[] {
  const mirror: ResponseInputItem[] = [];
  for (const item of conversation) {
    if (!("role" in item) || !("content" in item)) continue;
    if (item.role !== "user" && item.role !== "assistant") continue;
    const content = textParts(item.content).join("\n");
    if (content === "") continue;
    mirror.push({ role: item.role === "user" ? "assistant" : "user", content, type: "message" });
  }
  // A model only responds to a message, so there must be a first one.
  if (mirror[0]?.type !== "message" || !("role" in mirror[0]) || mirror[0].role !== "user")
    mirror.unshift({ role: "user", content: "Hello, how can I help you?", type: "message" });
  return mirror;
}
