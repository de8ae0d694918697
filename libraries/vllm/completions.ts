import type { JsonObject } from "nemo-gym";
import {
  CHAT_PARAM_KEYS,
  type ChatCompletion,
  type ChatCreateParams,
  type ChatMessage,
  ConversionError,
  TokenInformationError,
} from "nemo-gym/openai";
import { metadataObject } from "./chat-body.ts";
import type { VllmConfig } from "./config.ts";

/** Sampling keys that exist in chat and text completions. */
const SHARED = [
  "max_tokens",
  "temperature",
  "top_p",
  "n",
  "seed",
  "stop",
  "frequency_penalty",
  "presence_penalty",
  "logit_bias",
  "response_format",
  "user",
] as const satisfies (keyof ChatCreateParams)[];

function reject(message: string): never {
  throw new ConversionError("unsupported", `use_completions_api: ${message}`);
}

/** The unchanged prompt of a request: one user message, with at most one system message before it. */
export function rawPrompt(params: ChatCreateParams): string {
  if (params.tools?.length) reject("tools need render_chat_template: true");
  rejectAudio(params);
  const roles = params.messages.map(({ role }) => role);
  if (roles.join() !== "user" && roles.join() !== "system,user") {
    reject(`takes one user message, or a system and a user message, not ${roles.join(", ") || "none"}`);
  }
  return params.messages.map(textOf).join("\n\n");
}

/** Rejects messages with content other than text. */
export function requireText(params: ChatCreateParams): void {
  rejectAudio(params);
  for (const message of params.messages) if (message.content != null) textOf(message);
}

function rejectAudio({ metadata }: ChatCreateParams): void {
  const given = ["audio_data", "audio_path", "audio_paths"].find((key) => metadata?.[key]);
  if (given) reject(`metadata.${given} cannot be sent as text`);
}

function textOf({ role, content }: ChatMessage): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return reject(`the ${role} message has no text`);
  return content
    .map((part) =>
      part.type === "text" ? part.text : reject(`the ${role} message holds a '${part.type}' part`),
    )
    .join("");
}

function objectIn({ metadata }: ChatCreateParams, name: string): JsonObject {
  return metadataObject(metadata ?? {}, name);
}

/** The body for `/completions`. */
export function completionBody(
  params: ChatCreateParams,
  config: VllmConfig,
  prompt: string | number[],
): JsonObject {
  const body: JsonObject = {
    ...config.extra_body,
    ...objectIn(params, "extra_body"),
    model: config.model,
    prompt,
  };
  for (const key of SHARED) if (params[key] !== undefined) body[key] = params[key];
  // Settings of the engine, such as `top_k`; those of the template are already in the prompt.
  for (const [key, value] of Object.entries(params)) {
    if (!CHAT_PARAM_KEYS.has(key) && !key.startsWith("chat_template")) body[key] = value;
  }
  if (params.max_tokens === undefined && params.max_completion_tokens !== undefined) {
    body["max_tokens"] = params.max_completion_tokens;
  }
  // Here `logprobs` is a number; 0 requests only that of the chosen token.
  if (params.top_logprobs != null) body["logprobs"] = params.top_logprobs;
  else if (params.logprobs === true || config.return_token_id_information) body["logprobs"] = 0;
  if (config.return_token_id_information) {
    body["return_token_ids"] = true;
    body["return_tokens_as_token_ids"] = true;
  }
  Object.assign(body, config.sampling_overrides);
  if (config.return_token_id_information && body["n"] != null && body["n"] !== 1) {
    reject("n must be 1 when token ids are returned");
  }
  return body;
}

interface TextChoice {
  index?: number;
  text?: string | null;
  finish_reason?: string | null;
  prompt_token_ids?: number[] | null;
  token_ids?: number[] | null;
  logprobs?: { tokens?: string[] | null; token_logprobs?: number[] | null } | null;
}

export interface TextCompletion {
  id?: unknown;
  created?: unknown;
  usage?: JsonObject | null;
  choices: [TextChoice, ...TextChoice[]];
}

/** Checks that a text completion has a first choice. */
export function parseTextCompletion(answer: unknown): TextCompletion {
  const { choices } = (answer ?? {}) as { choices?: unknown };
  if (!Array.isArray(choices) || typeof choices[0] !== "object" || choices[0] === null) {
    throw new ConversionError("value", "the completion has no choices");
  }
  return answer as TextCompletion;
}

/** Converts a text completion to a chat completion; `promptIds` fetches the ids of the prompt if the engine omitted them. */
export async function completionToChat(
  { choices: [choice], id, created, usage }: TextCompletion,
  config: VllmConfig,
  promptIds: (() => Promise<number[]>) | undefined,
): Promise<ChatCompletion> {
  const tokens = promptIds && {
    prompt_token_ids: choice.prompt_token_ids ?? (await promptIds()),
    ...generationTokens(choice),
  };
  return {
    id: typeof id === "string" ? id : "chatcmpl-completions",
    object: "chat.completion",
    created: typeof created === "number" ? created : Math.floor(Date.now() / 1000),
    model: config.model,
    choices: [
      {
        index: choice.index ?? 0,
        finish_reason: choice.finish_reason || "stop",
        message: { role: "assistant", content: choice.text ?? "", ...tokens },
      },
    ],
    ...(usage != null && { usage }),
  };
}

function generationTokens({ token_ids, logprobs }: TextChoice) {
  const logProbs = logprobs?.token_logprobs;
  if (!logProbs)
    throw new TokenInformationError(
      "the engine answered without log-probabilities although they were requested",
    );
  if (!logProbs.every(Number.isFinite))
    throw new TokenInformationError("a log-probability of a generated token is not a finite number");
  const ids = token_ids ?? logprobs?.tokens?.map(idOf);
  if (!ids)
    throw new TokenInformationError("the engine answered without token ids although they were requested");
  if (ids.length !== logProbs.length) {
    throw new TokenInformationError(`${ids.length} token ids came with ${logProbs.length} log-probabilities`);
  }
  return { generation_token_ids: ids, generation_log_probs: logProbs };
}

function idOf(token: string): number {
  const match = /^token_id:(\d+)$/.exec(token);
  if (!match)
    throw new TokenInformationError("logprobs.tokens has entries of another form than token_id:<number>");
  return Number(match[1]);
}
