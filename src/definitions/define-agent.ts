import type { z } from "zod";
import type { Cookies } from "../calls/cookies.ts";
import type { Reply } from "../calls/server-call.ts";
import type { ServerContext, StageListener } from "../calls/server-client.ts";
import type { JsonObject } from "../python/json/json-object.ts";
import type { Response, ResponseCreateParams, ResponseOutputItem } from "../wire/schemas/responses.ts";
import type { HandlerScope, Infer, MaybePromise } from "./definitions.ts";

/** Which rollout a request belongs to, when it says so (`/ng-rollout/<id>/…` or the row's indices). */
export interface RolloutScope {
  rolloutId?: string;
  /** The path in front of routes of resources servers so that calls are attributed to the rollout; "" without capture. */
  prefix: string;
  /** The same for routes of model servers, which may also have to record tokens. */
  modelPrefix: string;
  /** Call it when the rollout enters a stage. The stage is named when the rollout exceeds its time. */
  onStage: StageListener;
  /** Call it with the items that the loop has produced, in order: a client that streams gets them at once. `cookies` are the current ones of the servers. */
  onOutput?: (items: readonly ResponseOutputItem[], cookies: Cookies) => void;
}

export interface AgentReply {
  response: Response & JsonObject;
  /** Cookies of the resources and model servers, so that `/verify` lands in the same session. */
  cookies: Cookies;
}

export interface AgentOptions<ConfigSchema extends z.ZodType, State> {
  name?: string;
  config?: ConfigSchema;
  /** `gym env prefetch`: installs or downloads ahead of a run what `start` would otherwise have to. */
  prefetch?(args: {
    config: Infer<ConfigSchema>;
    signal: AbortSignal;
    log(line: string): void;
  }): MaybePromise<void>;
  start?(server: ServerContext<Infer<ConfigSchema>>): MaybePromise<State>;
  stop?(server: ServerContext<Infer<ConfigSchema>>, state: NoInfer<State>): MaybePromise<void>;
  /** `POST /v1/responses`: the loop. */
  responses(
    args: HandlerScope<Infer<ConfigSchema>> & {
      params: ResponseCreateParams;
      cookies: Cookies;
      rollout: RolloutScope;
      state: NoInfer<State>;
    },
  ): Promise<AgentReply>;
  /** `POST /run`; default: seed the session, respond, verify. */
  run?(
    args: HandlerScope<Infer<ConfigSchema>> & {
      row: JsonObject;
      params: ResponseCreateParams;
      cookies: Cookies;
      rollout: RolloutScope;
      state: NoInfer<State>;
      /** The agent's own `/v1/responses`, called directly; `signal` where it has less time than the whole run. */
      respond(params: ResponseCreateParams, cookies: Cookies, signal?: AbortSignal): Promise<AgentReply>;
    },
  ): Promise<JsonObject | Reply>;
  /** `POST /aggregate_metrics`; default: forwarded to the resources server named in the config. */
  aggregateMetrics?(
    args: HandlerScope<Infer<ConfigSchema>> & { body: JsonObject; state: NoInfer<State> },
  ): Promise<JsonObject>;
}

// biome-ignore lint/suspicious/noExplicitAny: the erased form of a definition accepts every instantiation
type Erased = any;

export interface AgentDefinition {
  type: "responses_api_agents";
  options: AgentOptions<Erased, Erased>;
}

/** Defines an agent server: the loop between model and resources servers. */
export function defineAgent<ConfigSchema extends z.ZodType = z.ZodType<JsonObject>, State = undefined>(
  options: AgentOptions<ConfigSchema, State>,
): AgentDefinition {
  return { type: "responses_api_agents", options };
}
