import type { z } from "zod";
import type { JsonObject } from "../../base/python/json/door.ts";
import type { Cookies } from "../calls/cookies.ts";
import type { Reply } from "../calls/server-call.ts";
import type { ServerContext } from "../calls/server-client.ts";
import type { Erased, HandlerScope, Infer, MaybePromise } from "./definitions.ts";

export interface EnvironmentServerOptions<ConfigSchema extends z.ZodType, State> {
  name?: string;
  /** Schema of the server's own config keys. Other keys are rejected. */
  config?: ConfigSchema;
  start?(server: ServerContext<Infer<ConfigSchema>>): MaybePromise<State>;
  /** `POST /run`: one episode of one task. */
  run(
    args: HandlerScope<Infer<ConfigSchema>> & {
      body: JsonObject;
      cookies: Cookies;
      headers: Readonly<Record<string, string>>;
      state: NoInfer<State>;
    },
  ): MaybePromise<JsonObject | Reply>;
  /** The server that answers `POST /aggregate_metrics`. */
  metricsServer(config: Infer<ConfigSchema>): string;
}

export interface EnvironmentServerDefinition {
  type: "environment_servers";
  options: EnvironmentServerOptions<Erased, Erased>;
}

/** Defines an environment server: what runs one episode of a task, with the agents and the environment that it names. */
export function defineEnvironmentServer<
  ConfigSchema extends z.ZodType = z.ZodType<JsonObject>,
  State = undefined,
>(options: EnvironmentServerOptions<ConfigSchema, State>): EnvironmentServerDefinition {
  return { type: "environment_servers", options };
}
