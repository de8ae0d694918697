import { lookup } from "node:dns/promises";
import { isLoopback, printable } from "../base/door.ts";
import { redactor, secretsIn } from "../base/secrets.ts";
import { sleep, withDeadline } from "../base/transport/light-door.ts";
import type { ResolvedConfig } from "../config/door.ts";
import { ConfigError } from "../config/errors.ts";
import { requestOnce } from "../servers/calls/door.ts";
import { providerMessage } from "../servers/model-endpoint/door.ts";

const PROBE_TIMEOUT_MS = 5_000;
const PROBE_PAUSE_MS = 3_000;
/** Interval between notices while an endpoint does not answer. */
const NOTICE_EVERY_MS = 30_000;
const LIMIT_KEY = "model_endpoint_readiness_timeout_seconds";
/** The default for addresses of this machine: a wrong port is likelier than a model that still loads. */
const LOOPBACK_WAIT_SECONDS = 30;
const MAX_QUOTED = 300;
const CHECK_WITH_KEY = [401, 403];

export interface PreflightOptions {
  signal: AbortSignal;
  onNotice: (text: string) => void;
  /** Omits the provider's message about a rejected key, for callers that receive it later. */
  brief?: boolean;
}

interface Endpoint {
  url: string;
  /** The config key of the endpoint. */
  key: string;
  apiKey: string | undefined;
}

/**
 * Waits until every model endpoint of the config answers, and shows the provider's message about the key. Throws an
 * error that names an endpoint if it refuses connections or times out until the limit; an unknown host only causes a
 * notice.
 */
export async function checkModelEndpoints(config: ResolvedConfig, options: PreflightOptions): Promise<void> {
  const start = performance.now();
  const endpoints = endpointsOf(config);
  const redact = redactor(secretsIn(config.servers.map((server) => server.config)));
  const shown = (text: string) => printable(redact(text)).slice(0, MAX_QUOTED);
  const unreachable: string[] = [];
  await Promise.all(
    endpoints.map(async (endpoint) => {
      const limit = waitSeconds(config, endpoint.url);
      if (!(limit > 0)) return;
      const problem = await waitFor(endpoint, start + limit * 1000, { ...options, shown });
      if (problem) unreachable.push(`  - ${endpoint.url} (${endpoint.key}), within ${limit} s: ${problem}`);
    }),
  );
  if (unreachable.length > 0) {
    throw new ConfigError(
      `These model endpoints did not answer:\n${unreachable.join("\n")}\n` +
        `Correct the URL, or start the endpoint. ++${LIMIT_KEY}=600 waits longer, and 0 skips this check.`,
    );
  }
}

/** How long to wait for an endpoint: the configured time, but by default shorter for this machine. */
export function waitSeconds(config: Pick<ResolvedConfig, "get" | "explain">, url: string): number {
  const limit = Number(config.get(LIMIT_KEY));
  const isDefault = config.explain(LIMIT_KEY).sources.some(({ won, where }) => won && where === "default");
  const isLocal = URL.canParse(url) && isLoopback(new URL(url).hostname);
  return isDefault && isLocal ? Math.min(limit, LOOPBACK_WAIT_SECONDS) : limit;
}

function endpointsOf(config: ResolvedConfig): Endpoint[] {
  const endpoints = new Map<string, Endpoint>();
  for (const server of config.servers) {
    if (server.type !== "responses_api_models") continue;
    const apiKey = Object.entries(server.config).find(
      ([name, value]) => name.endsWith("api_key") && typeof value === "string",
    );
    for (const [name, value] of Object.entries(server.config)) {
      if (!name.endsWith("base_url")) continue;
      for (const url of Array.isArray(value) ? value : [value]) {
        if (typeof url !== "string" || url.trim() === "") continue;
        const plain = url.trim().replace(/\/+$/, "");
        const key = `${server.name}.${server.type}.${server.implementation}.${name}`;
        if (!endpoints.has(plain))
          endpoints.set(plain, { url: plain, key, apiKey: (apiKey?.[1] as string | undefined)?.trim() });
      }
    }
  }
  return [...endpoints.values()];
}

/** The final problem of an endpoint; undefined when it answers, with any status. */
async function waitFor(
  { url, apiKey }: Endpoint,
  deadline: number,
  { signal, onNotice, brief, shown }: PreflightOptions & { shown: (text: string) => string },
): Promise<string | undefined> {
  if (!URL.canParse(url)) return "this is not a URL";
  const { hostname } = new URL(url);
  const known = await lookup(hostname).then(
    () => true,
    () => false,
  );
  if (!known) {
    onNotice(`warning: the host '${hostname}' of ${url} cannot be resolved.`);
    return undefined;
  }
  let nextNotice = 0;
  for (;;) {
    try {
      const { status, text } = await withDeadline(PROBE_TIMEOUT_MS, signal, (stop) =>
        requestOnce(url.endsWith("/v1") ? `${url}/models` : url, {
          headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
          signal: stop,
        }),
      );
      if (CHECK_WITH_KEY.includes(status)) {
        const said = brief
          ? "the key may not be the right one"
          : shown(providerMessage(text)) || "(no message)";
        onNotice(`warning: ${status} from ${hostname}: ${said}`);
      }
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      const code = (error as { code?: string }).code ?? "";
      if (/CERT|TLS|SSL/.test(code)) return undefined;
      // No request was made. The first real request reports the reason.
      if (code === "REQUEST_INVALID") return undefined;
      const problem = shown((error as Error).message || code);
      const now = performance.now();
      if (now >= deadline) return problem;
      if (now >= nextNotice) {
        nextNotice = now + NOTICE_EVERY_MS;
        const seconds = Math.round((deadline - now) / 1000);
        onNotice(`waiting for ${url} (up to ${seconds} s more; ++${LIMIT_KEY}=0 skips this): ${problem}`);
      }
      await sleep(Math.min(PROBE_PAUSE_MS, deadline - now), signal);
    }
  }
}
