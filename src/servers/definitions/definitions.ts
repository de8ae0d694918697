import type { z } from "zod";
import type { JsonObject } from "../../base/python/json/door.ts";
import { isServerType, type ServerType } from "../../config/light-door.ts";
import type { ServerContext } from "../calls/server-client.ts";
import type { AgentDefinition } from "./define-agent.ts";
import type { EnvironmentServerDefinition } from "./define-environment.ts";
import type { ModelDefinition } from "./define-model.ts";
import type { GymnasiumServerDefinition, ResourcesServerDefinition } from "./define-resources.ts";

export type { ServerType };

export type MaybePromise<T> = T | Promise<T>;
export type Infer<Schema> = Schema extends z.ZodType ? z.output<Schema> : JsonObject;

// Inside the host the generics are erased: the schemas of a definition have parsed everything that it receives.
// biome-ignore lint/suspicious/noExplicitAny: the erased form of a definition accepts every instantiation
export type Erased = any;

/** Arguments of every handler of a server. */
export interface HandlerScope<Config> {
  config: Config;
  server: ServerContext<Config>;
  /** Aborted when the caller disconnects, the deadline passes or the server stops. */
  signal: AbortSignal;
}

export type ServerDefinition =
  | ResourcesServerDefinition
  | GymnasiumServerDefinition
  | AgentDefinition
  | ModelDefinition
  | EnvironmentServerDefinition;

/** Whether a module's default export is a server definition, including one made by another copy of the package. */
export function isServerDefinition(value: unknown): value is ServerDefinition {
  const { type, options } = (value ?? {}) as { type?: unknown; options?: unknown };
  return isServerType(type) && typeof options === "object" && options !== null;
}

/**
 * State that belongs to one running server instance (a loaded prompt, a judge): created on first use and released with the
 * instance. Two instances of one definition never share it.
 *
 * @example
 * const judgeOf = perServer((server: ServerContext<Config>) => createJudge(server, server.config));
 * // in verify: const reply = await judgeOf(server).ask(prompt, { signal });
 */
export function perServer<Config, State>(
  make: (server: ServerContext<Config>) => State,
): (server: ServerContext<Config>) => State {
  const states = new WeakMap<ServerContext<Config>, State>();
  return (server) => {
    let state = states.get(server);
    if (state === undefined && !states.has(server)) {
      state = make(server);
      states.set(server, state);
    }
    return state as State;
  };
}
