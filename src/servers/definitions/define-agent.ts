import type { z } from "zod";
import type { JsonObject } from "../../base/python/json/door.ts";
import type { Response, ResponseCreateParams, ResponseOutputItem } from "../../wire/schemas/door.ts";
import type { Cookies } from "../calls/cookies.ts";
import type { Reply } from "../calls/server-call.ts";
import type { ServerContext, StageListener } from "../calls/server-client.ts";
import type { MetricsHooks } from "./define-resources.ts";
import type { Erased, HandlerScope, Infer, MaybePromise } from "./definitions.ts";
import type { AgentSession } from "./episodes/agent-sessions.ts";
import type { AgentSeed, ToolAccess } from "./episodes/schemas.ts";

/** The rollout that a request belongs to, if the request names one (`/ng-rollout/<id>/…` or the row's indices). */
export interface RolloutScope {
  rolloutId?: string;
  /** Path prefix for routes of resources servers that attributes calls to the rollout; "" without capture. */
  prefix: string;
  /** Path prefix for routes of model servers, which may also have to record tokens. */
  modelPrefix: string;
  /** Call this when the rollout enters a stage. A time-out error names the current stage. */
  onStage: StageListener;
  /**
   * Call this with the items that the loop has produced, in order. A streaming client receives them immediately.
   * `cookies` are the current cookies of the servers.
   */
  onOutput?: (items: readonly ResponseOutputItem[], cookies: Cookies) => void;
}

export interface AgentReply {
  response: Response & JsonObject;
  /** Cookies of the resources and model servers, so that `/verify` reaches the same session. */
  cookies: Cookies;
}

export interface AgentOptions<ConfigSchema extends z.ZodType, State> {
  name?: string;
  config?: ConfigSchema;
  /** `gym env prefetch`: installs or downloads before a run what `start` would otherwise have to. */
  prefetch?(args: {
    config: Infer<ConfigSchema>;
    signal: AbortSignal;
    log(line: string): void;
  }): MaybePromise<void>;
  start?(server: ServerContext<Infer<ConfigSchema>>): MaybePromise<State>;
  stop?(server: ServerContext<Infer<ConfigSchema>>, state: NoInfer<State>): MaybePromise<void>;
  /**
   * Checks a session that an environment server opens, and returns the tools that it may use. `direct_http`: the tools of
   * one server that are called over HTTP, as `toolLoop` does. Without it, sessions are rejected.
   */
  session?:
    | "direct_http"
    | ((args: { config: Infer<ConfigSchema>; seed: AgentSeed }) => readonly ToolAccess[]);
  /** `POST /v1/responses`: the loop. */
  responses(
    args: HandlerScope<Infer<ConfigSchema>> & {
      params: ResponseCreateParams;
      cookies: Cookies;
      rollout: RolloutScope;
      state: NoInfer<State>;
      /** The session of the request, if an environment server opened one. */
      session?: AgentSession;
    },
  ): MaybePromise<AgentReply>;
  /** `POST /run`; default: seed the session, respond, verify. */
  run?(
    args: HandlerScope<Infer<ConfigSchema>> & {
      row: JsonObject;
      params: ResponseCreateParams;
      cookies: Cookies;
      rollout: RolloutScope;
      state: NoInfer<State>;
      /**
       * Calls the agent's own `/v1/responses` directly. Pass `signal` when this call has less time than the whole run.
       */
      respond(params: ResponseCreateParams, cookies: Cookies, signal?: AbortSignal): Promise<AgentReply>;
    },
  ): MaybePromise<JsonObject | Reply>;
  /** Metrics of an agent that scores its rollouts itself, without a resources server. */
  metrics?: MetricsHooks;
  /** `POST /aggregate_metrics`; default: forwarded to the resources server named in the config. */
  aggregateMetrics?(
    args: HandlerScope<Infer<ConfigSchema>> & { body: JsonObject; state: NoInfer<State> },
  ): MaybePromise<JsonObject>;
}

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
