import type { CallOptions, ServerClient, ServerReply } from "../calls/server-client.ts";
import { serverTypes as knownTypes, type ServerType } from "../config/servers/server-types.ts";
import { idInRow, isRolloutId } from "../wire/rollout-id.ts";
import { isPrefixed, rolloutPrefix } from "../wire/rollout-prefix.ts";
import type { RolloutContext } from "./rollout-context.ts";

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
