import { AsyncLocalStorage } from "node:async_hooks";
import type {
  CallOptions,
  ServerClient,
  ServerContext,
  ServerReply,
  StageListener,
} from "../calls/server-client.ts";
import { capturesTokens, isObserved, tokenCaptureSettings } from "../capture/settings.ts";
import { serverTypes as knownTypes, type ServerType } from "../config/servers/server-types.ts";
import type { RolloutScope } from "../definitions/define-agent.ts";
import type { JsonObject } from "../python/json/json-object.ts";
import { idInRow, isPrefixed, isRolloutId, rolloutIdOf, rolloutPrefix } from "../wire/rollout-id.ts";
import type { Handler, RouteCall } from "./app.ts";

const ignoreStage: StageListener = () => {};

/** How the calls of an agent are attributed to rollouts; read from the config once. */
export interface Attribution {
  observed: boolean;
  tokenCapture: boolean;
}

export function attributionOf(server: ServerContext<unknown>): Attribution {
  const tokens = tokenCaptureSettings(server.globalConfig);
  return {
    observed: isObserved(server.globalConfig),
    tokenCapture: capturesTokens(tokens, server.config as JsonObject),
  };
}

/** The rollout a `/run` row belongs to; its calls carry a prefix only when something listens for it. */
export function rolloutScopeOfRow(
  row: JsonObject,
  { observed, tokenCapture }: Attribution,
  onStage: StageListener = ignoreStage,
): RolloutScope {
  const rolloutId = rolloutIdOf(row);
  if (rolloutId === undefined || (!observed && !tokenCapture)) return unattributed(rolloutId, onStage);
  return attributed(rolloutId, tokenCapture, onStage);
}

/** The rollout a prefixed `/v1/responses` path names; the prefix goes on to the servers it calls. */
export function rolloutScopeOfPath(
  call: Pick<RouteCall, "rolloutId" | "tokenCapture" | "onStage">,
): RolloutScope {
  const { rolloutId, tokenCapture, onStage = ignoreStage } = call;
  if (rolloutId === undefined) return unattributed(undefined, onStage);
  return attributed(rolloutId, tokenCapture, onStage);
}

function unattributed(rolloutId: string | undefined, onStage: StageListener): RolloutScope {
  if (rolloutId === undefined) return { prefix: "", modelPrefix: "", onStage };
  return { rolloutId, prefix: "", modelPrefix: "", onStage };
}

function attributed(rolloutId: string, tokenCapture: boolean, onStage: StageListener): RolloutScope {
  const prefix = rolloutPrefix(rolloutId);
  return { rolloutId, prefix, modelPrefix: rolloutPrefix(rolloutId, { tokenCapture }), onStage };
}

const MODEL_ROUTES = new Set(["/v1/responses", "/v1/chat/completions", "/v1/messages"]);

/** The client of a server in an observed run: calls made for a rollout say so in their path. */
export class RolloutClient implements ServerClient {
  readonly #client: ServerClient;
  readonly #rollouts: RolloutContext;
  readonly #types: ReadonlyMap<string, ServerType>;

  constructor(client: ServerClient, rollouts: RolloutContext, types: ReadonlyMap<string, ServerType>) {
    this.#client = client;
    this.#rollouts = rollouts;
    this.#types = types;
  }

  post(server: string, path: string, body: unknown, options?: CallOptions): Promise<ServerReply> {
    return this.#client.post(server, this.#attributed(server, path, body), body, options);
  }

  get(server: string, path: string, options?: CallOptions): Promise<ServerReply> {
    return this.#client.get(server, this.#attributed(server, path, undefined), options);
  }

  baseUrl(server: string): string {
    return this.#client.baseUrl(server);
  }

  #attributed(server: string, path: string, body: unknown): string {
    if (isPrefixed(path) || !this.#listens(server, path)) return path;
    const id = this.#rollouts.current ?? (path === "/verify" ? idInRow(body) : undefined);
    return id === undefined || !isRolloutId(id) ? path : rolloutPrefix(id) + path;
  }

  #listens(server: string, path: string): boolean {
    const type = this.#types.get(server);
    if (type === "resources_servers") return true;
    return type === "responses_api_models" && MODEL_ROUTES.has(path);
  }
}

/** The kinds of the servers a config describes, by instance name. */
export function serverTypes(config: Readonly<Record<string, unknown>>): Map<string, ServerType> {
  const types = new Map<string, ServerType>();
  for (const [name, block] of Object.entries(config)) {
    if (typeof block !== "object" || block === null) continue;
    const type = knownTypes.find((candidate) => Object.hasOwn(block, candidate));
    if (type) types.set(name, type);
  }
  return types;
}

/** Routes whose bodies are rows: they name the rollout of a request whose path does not. */
const ROW_ROUTES = new Set(["/run", "/verify"]);

/** Knows the rollout of the running code. Used in observed runs only, because AsyncLocalStorage costs time. */
export class RolloutContext {
  readonly #storage = new AsyncLocalStorage<string>();

  get current(): string | undefined {
    return this.#storage.getStore();
  }

  /** Runs a handler on behalf of the rollout its request names. */
  serve(handler: Handler, call: RouteCall): ReturnType<Handler> {
    const id = call.rolloutId ?? (ROW_ROUTES.has(call.path) ? idInRow(call.body) : undefined);
    return id === undefined || !isRolloutId(id) ? handler(call) : this.#storage.run(id, handler, call);
  }
}
