import { basename, resolve } from "node:path";
import { GymError } from "../../base/errors.ts";
import type { ServerContext } from "../calls/server-client.ts";
import { ApiKey } from "./api-key.ts";
import { runBudgets } from "./budget/budget-client.ts";
import { CostMeter, listPrice, RUN_METER, runMeter } from "./cost.ts";
import { endpointConnections, parseEndpointUrl, sharedEndpoint } from "./endpoint.ts";
import { noteSharedLimit, ownShare } from "./limit-shares.ts";
import { Provider } from "./provider.ts";
import { ResponseCache } from "./response-cache.ts";
import type { Price, ProviderSettings } from "./settings.ts";

export interface OpenProviderOptions {
  /** One base URL, or those of replicas. */
  baseUrl: string | readonly string[];
  /** The config key of the URL, for messages. */
  baseUrlKey: string;
  apiKey: string | null | undefined;
  /** The headers with the key; default: `Authorization: Bearer`. */
  authorize?: (apiKey: string) => Record<string, string>;
  headers?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  model: string;
  maxConcurrent?: number | null;
  /** Whether tokens are free, as with a self-hosted engine. */
  free?: boolean;
  /** Whether the endpoint reports the cost of each call. */
  statesCost?: boolean;
}

const bearer = (apiKey: string): Record<string, string> =>
  apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };

/**
 * The client of an external endpoint for a model server, created once in its `start`.
 *
 * @example
 * start: (server) => openProvider(server, {
 *   baseUrl: server.config.base_url, baseUrlKey: "base_url", apiKey: server.config.api_key, model: server.config.model,
 * })
 */
export async function openProvider(
  server: ServerContext<ProviderSettings>,
  options: OpenProviderOptions,
): Promise<Provider> {
  const { config: settings, log, globalConfig } = server;
  const { baseUrl, baseUrlKey, model } = options;
  const key = `${configPath(server)}.${baseUrlKey}`;
  const urls = [baseUrl].flat().map((text) => parseEndpointUrl(text, key));
  if (urls.length === 0) throw new GymError("PROVIDER_URL", `${key} is an empty list.`);
  const apiKey = await ApiKey.read(
    options.apiKey,
    settings.api_key_file && server.findFile(settings.api_key_file),
    `The API key of ${server.name}`,
  );
  checkHeaders(server.name, options.headers ?? {});
  checkBodies(server.name, server.config);
  const run = runMeter(globalConfig);
  const own = new CostMeter(settings.max_cost ?? null, `${server.name} (max_cost)`);
  const limited = (run.limit ?? own.limit) !== null;
  // Proxies and tunnels to paid models also run on the local machine, so with a limit no local endpoint counts as free.
  const free = options.free || (!limited && urls.every(({ host }) => isOwnMachine(host)));
  const price: Price | undefined = settings.prices ?? (free ? undefined : listPrice(model));
  const counted = price !== undefined || free || options.statesCost;
  if (!counted && limited) throw noPrice(server, model);
  const budgets = runBudgets();
  budgets?.share(RUN_METER, run);
  budgets?.share(`server ${server.name}`, own);
  if (options.maxConcurrent != null) noteSharedLimit(server.name, options.maxConcurrent);
  const endpoints = urls.map((url) => {
    const connections = endpointConnections(Math.ceil(settings.connect_timeout_seconds * 1000));
    return sharedEndpoint(url, { model, apiKey: apiKey.value, connections, log });
  });
  const cache = settings.response_cache_dir
    ? new ResponseCache(
        resolve(settings.response_cache_dir),
        settings.response_cache_max_mb * 1024 * 1024,
        (problem) => log.warn(problem),
      )
    : undefined;
  await cache?.open();
  return new Provider({
    endpoints,
    apiKey,
    authorize: options.authorize ?? bearer,
    headers: options.headers ?? {},
    query: options.query ?? {},
    settings,
    maxConcurrent: options.maxConcurrent == null ? null : ownShare(options.maxConcurrent),
    price,
    free,
    meters: [run, own],
    cache,
    log,
  });
}

function isOwnMachine(host: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/.test(host);
}

/** The path of a server's keys in the config; its folder has the name of its implementation. */
function configPath({ name, directory }: ServerContext<unknown>): string {
  return `${name}.responses_api_models.${basename(directory)}`;
}

function noPrice(server: ServerContext<unknown>, model: string): GymError {
  const path = `${configPath(server)}.prices`;
  return new GymError(
    "PROVIDER_PRICE_UNKNOWN",
    `max_cost is set, but the price of '${model}' is not known. Set it in dollars per million tokens: '++${path}={input: 1.0, output: 4.0}'; both 0 for your own engine.`,
  );
}

/** Rejects header values that cannot be sent. They are not quoted, because they may be secrets. */
function checkHeaders(server: string, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) continue;
    throw new GymError(
      "PROVIDER_HEADER",
      `The header '${name}' of ${server} cannot be sent: its name or its value contains characters that are not valid in a header.`,
    );
  }
}

/** Rejects `stream`, because responses of endpoints are read as a whole. */
function checkBodies(server: string, config: Readonly<Record<string, unknown>>): void {
  for (const key of ["extra_body", "sampling_overrides"]) {
    const body = config[key];
    if (typeof body !== "object" || body === null || !(body as { stream?: unknown }).stream) continue;
    throw new GymError(
      "PROVIDER_STREAM",
      `${server}: ${key}.stream cannot be set; the server reads whole answers and streams them to callers that request it.`,
    );
  }
}
