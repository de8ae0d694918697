import type { z } from "zod";
import type { ServerContext } from "../calls/server-context.ts";
import type { ServerType } from "../config/servers/server-types.ts";
import type { JsonObject } from "../python/json/json-object.ts";
import type { AgentDefinition } from "./define-agent.ts";
import type { ModelDefinition } from "./define-model.ts";
import type { GymnasiumServerDefinition, ResourcesServerDefinition } from "./define-resources.ts";

export type { ServerType };

export type MaybePromise<T> = T | Promise<T>;
export type Infer<Schema> = Schema extends z.ZodType ? z.output<Schema> : JsonObject;

/** Arguments that every handler of a server gets. */
export interface HandlerScope<Config> {
  config: Config;
  server: ServerContext<Config>;
  /** Fires when the caller has gone, the deadline has passed or the server stops. */
  signal: AbortSignal;
}

export type ServerDefinition =
  | ResourcesServerDefinition
  | GymnasiumServerDefinition
  | AgentDefinition
  | ModelDefinition;
