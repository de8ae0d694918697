import type { z } from "zod";
import type { JsonObject } from "../../base/python/json/door.ts";
import type { OnLoss } from "../../wire/convert/door.ts";
import type {
  ChatCompletion,
  ChatCreateParams,
  Response,
  ResponseCreateParams,
} from "../../wire/schemas/door.ts";
import type { ServerContext } from "../calls/server-client.ts";
import type { Erased, HandlerScope, Infer, MaybePromise } from "./definitions.ts";

export interface ModelCallScope<Config, State> extends HandlerScope<Config> {
  state: State;
  /** The session of the calling rollout. It selects the replica. */
  sessionId: string;
  rolloutId?: string;
  /** Request headers, with names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The values of `requestFields` in the request. */
  fields: Readonly<Record<string, unknown>>;
  /** Called for each field that a conversion inside the handler has to drop. */
  onLoss: OnLoss;
}

export interface ModelPostScope<Config, State> extends HandlerScope<Config> {
  state: State;
  path: string;
  /** Query string with its `?`; empty without one. */
  query: string;
  /** Parsed JSON; undefined without a body. */
  body: unknown;
}

export interface ModelOptions<ConfigSchema extends z.ZodType, State> {
  name?: string;
  config?: ConfigSchema;
  start?(server: ServerContext<Infer<ConfigSchema>>): MaybePromise<State>;
  stop?(server: ServerContext<Infer<ConfigSchema>>, state: NoInfer<State>): MaybePromise<void>;
  /** `POST /v1/responses`; absent: served by `chat` through conversion. */
  responses?(
    args: ModelCallScope<Infer<ConfigSchema>, NoInfer<State>> & { params: ResponseCreateParams },
  ): MaybePromise<Response>;
  /** `POST /v1/chat/completions`; absent: served by `responses` through conversion. */
  chat?(
    args: ModelCallScope<Infer<ConfigSchema>, NoInfer<State>> & { params: ChatCreateParams },
  ): MaybePromise<ChatCompletion>;
  /** The model name that the backend uses. It replaces the request's `model` when `chat` serves `/v1/responses`. */
  modelName?(config: Infer<ConfigSchema>): string;
  /** Whether think blocks in chat answers become reasoning items when `chat` serves `/v1/responses`. */
  usesReasoningParser?(config: Infer<ConfigSchema>): boolean;
  /** Fields of requests that the Responses API and Chat Completions do not have. Handlers find them in `fields`. */
  requestFields?: readonly string[];
  /** Further `GET` routes, by path. */
  get?: Record<
    string,
    (args: HandlerScope<Infer<ConfigSchema>> & { state: NoInfer<State> }) => MaybePromise<unknown>
  >;
  /** Further `POST` routes, by path. */
  post?: Record<string, (args: ModelPostScope<Infer<ConfigSchema>, NoInfer<State>>) => MaybePromise<unknown>>;
}

export interface ModelDefinition {
  type: "responses_api_models";
  options: ModelOptions<Erased, Erased>;
}

/** Defines a model server: any language model behind the Responses API, Chat Completions and Anthropic Messages. */
export function defineModel<ConfigSchema extends z.ZodType = z.ZodType<JsonObject>, State = undefined>(
  options: ModelOptions<ConfigSchema, State>,
): ModelDefinition {
  if (!options.responses && !options.chat) throw new TypeError("defineModel needs `responses` or `chat`");
  return { type: "responses_api_models", options: options as ModelDefinition["options"] };
}
