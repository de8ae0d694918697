import { resolve } from "node:path";
import { GymError } from "../../errors.ts";
import type { ServerContext } from "../../server/context.ts";
import { ApiKey } from "./api-key.ts";
import { CostMeter, RUN_METER, runMeter } from "./cost.ts";
import { sharedEndpoint } from "./endpoint.ts";
import { parseEndpointUrl } from "./endpoint-url.ts";
import { listPrice } from "./prices.ts";
import { Provider } from "./provider.ts";
import { ResponseCache } from "./response-cache.ts";
import type { Price, ProviderSettings } from "./settings.ts";
import { runConnection } from "./shared/run-connection.ts";
import { connectionsTo } from "./transport.ts";

export interface OpenProviderOptions {
  /** One base URL, or those of replicas. */
  baseUrl: string | readonly string[];
  /** The config key the URL stands under, for messages. */
  baseUrlKey: string;
  apiKey: string | null | undefined;
  /** The headers that carry the key; `Authorization: Bearer` unless given. */
  authorize?: (apiKey: string) => Record<string, string>;
  headers?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  model: string;
  maxConcurrent?: number | null;
  /** The tokens cost nothing: an engine of one's own. */
  free?: boolean;
  /** Whether the endpoint tells what each call cost. */
  statesCost?: boolean;
}

const bearer = (apiKey: string): Record<string, string> =>
  apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };

/**
 * The client of an outside endpoint for a model server, made once in its `start`.
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
  const key = `${server.name}.${baseUrlKey}`;
  const urls = [baseUrl].flat().map((text) => parseEndpointUrl(text, key));
  if (urls.length === 0) throw new GymError("PROVIDER_URL", `${key} is an empty list.`);
  const apiKey = await ApiKey.read(
    options.apiKey,
    settings.api_key_file && server.findFile(settings.api_key_file),
  );
  const run = runMeter(globalConfig);
  const own = new CostMeter(settings.max_cost ?? null, `${server.name} (max_cost)`);
  const free = options.free || urls.every(({ host }) => isOwnMachine(host));
  const price: Price | undefined = settings.prices ?? (free ? undefined : listPrice(model));
  const counted = price !== undefined || free || options.statesCost;
  if (!counted && (run.limit ?? own.limit) !== null) throw noPrice(server.name, model);
  const connection = runConnection();
  connection?.share(RUN_METER, run);
  connection?.share(`server ${server.name}`, own);
  const endpoints = urls.map((url) => {
    const connections = connectionsTo(url.origin, Math.ceil(settings.connect_timeout_seconds * 1000));
    return sharedEndpoint(url, { model, apiKey: apiKey.value, connections, log });
  });
  return new Provider({
    endpoints: await Promise.all(endpoints),
    apiKey,
    authorize: options.authorize ?? bearer,
    headers: options.headers ?? {},
    query: options.query ?? {},
    settings,
    maxConcurrent: options.maxConcurrent ?? null,
    price,
    free,
    meters: [run, own],
    cache: settings.response_cache_dir
      ? new ResponseCache(
          resolve(settings.response_cache_dir),
          settings.response_cache_max_mb * 1024 * 1024,
          (problem) => log.warn(problem),
        )
      : undefined,
    log,
  });
}

function isOwnMachine(host: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/.test(host);
}

function noPrice(server: string, model: string): GymError {
  return new GymError(
    "PROVIDER_PRICE_UNKNOWN",
    `max_cost is set, but the price of '${model}' is not known: set ${server}.prices to {input, output} in dollars per million tokens.`,
  );
}
