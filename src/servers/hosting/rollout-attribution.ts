import { AsyncLocalStorage } from "node:async_hooks";
import { processWide } from "../../base/door.ts";
import type { JsonObject } from "../../base/python/json/door.ts";
import { serverTypes as knownTypes, type ServerType } from "../../config/light-door.ts";
import { idInRow, isPrefixed, isRolloutId, rolloutIdOf, rolloutPrefix } from "../calls/rollout-id.ts";
import type {
  CallOptions,
  ServerClient,
  ServerContext,
  ServerReply,
  StageListener,
} from "../calls/server-client.ts";
import { capturesTokens, isObserved, tokenCaptureSettings } from "../capture/settings.ts";
import type { RolloutScope } from "../definitions/define-agent.ts";
import type { RouteCall } from "./app.ts";

const ignoreStage: StageListener = () => {};

/** How the calls of an agent are attributed to rollouts; read once from the config. */
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

/** The rollout of a `/run` row. Its calls have a prefix only when a capture is enabled. */
export function rolloutScopeOfRow(
  row: JsonObject,
  { observed, tokenCapture }: Attribution,
  onStage: StageListener = ignoreStage,
): RolloutScope {
  const rolloutId = rolloutIdOf(row);
  if (!observed && !tokenCapture) return { rolloutId, prefix: "", modelPrefix: "", onStage };
  return attributed(rolloutId, tokenCapture, onStage);
}

/** The rollout that a prefixed `/v1/responses` path names; calls to other servers keep the prefix. */
export function rolloutScopeOfPath(
  call: Pick<RouteCall, "rolloutId" | "tokenCapture" | "onStage">,
): RolloutScope {
  const { rolloutId, tokenCapture, onStage = ignoreStage } = call;
  return attributed(rolloutId, tokenCapture, onStage);
}

function attributed(
  rolloutId: string | undefined,
  tokenCapture: boolean,
  onStage: StageListener,
): RolloutScope {
  const prefix = rolloutPrefix(rolloutId);
  return { rolloutId, prefix, modelPrefix: rolloutPrefix(rolloutId, { tokenCapture }), onStage };
}

const MODEL_ROUTES = new Set(["/v1/responses", "/v1/chat/completions", "/v1/messages"]);

/** The client of a server in an observed run: calls made for a rollout have it in their path. */
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

/** The types of the servers in a config, by instance name. */
export function serverTypesByName(config: Readonly<Record<string, unknown>>): Map<string, ServerType> {
  const types = new Map<string, ServerType>();
  for (const [name, block] of Object.entries(config)) {
    if (typeof block !== "object" || block === null) continue;
    const type = knownTypes.find((candidate) => Object.hasOwn(block, candidate));
    if (type) types.set(name, type);
  }
  return types;
}

/** Routes whose bodies are rows, which identify the rollout if the path does not. */
const ROW_ROUTES = new Set(["/run", "/seed_session", "/verify"]);

interface Request {
  path: string;
  rolloutId: string | undefined;
  body: unknown;
}

/** The rollout that a request identifies in its path or its row. */
export function rolloutOfRequest({ path, rolloutId, body }: Request): string | undefined {
  const id = rolloutId ?? (ROW_ROUTES.has(path) ? idInRow(body) : undefined);
  return id === undefined || !isRolloutId(id) ? undefined : id;
}

/** The rollout that code works for, and the context of the called server. */
interface Work {
  rollout: string;
  context: RolloutContext;
}

/** One for all servers of a process: a server that is called by another one works for the same rollout. */
const storage = processWide("rollout-context", () => new AsyncLocalStorage<Work>());

/** Knows the rollout of a server's running code. Used in observed runs only, because AsyncLocalStorage costs time. */
export class RolloutContext {
  get current(): string | undefined {
    const work = storage.getStore();
    return work?.context === this ? work.rollout : undefined;
  }

  /** Answers a request on behalf of its rollout. */
  serve<T>(request: Request, answer: () => T): T {
    const rollout = rolloutOfRequest(request);
    return rollout === undefined ? answer() : storage.run({ rollout, context: this }, answer);
  }
}

/** A log line, prefixed with the rollout that the running code works for, if known. */
export function withRollout(line: string): string {
  const rollout = storage.getStore()?.rollout;
  return rollout === undefined ? line : `[${rollout}] ${line}`;
}
