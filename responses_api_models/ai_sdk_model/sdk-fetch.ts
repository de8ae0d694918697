import type { ServerContext } from "nemo-gym";
import { openProvider, type Provider, type ProviderSettings } from "nemo-gym/models";

/** The record of a call through the SDK: its cost, whether it was sent, the number of retries, and the waiting time. */
export interface CallRecord {
  cost: number | null;
  cached: boolean;
  retries: number;
  waitedMs: number;
}

export interface SdkFetchOptions {
  apiKey: string | null | undefined;
  model: string;
  maxConcurrent: number | null;
}

interface FetchInit {
  method?: string;
  headers?: unknown;
  body?: unknown;
  signal?: AbortSignal | null;
}

/**
 * The `fetch` for the SDK's providers: our client with its budget, breaker, limit and errors, for any address. The SDK sees
 * only responses; failures pass through it unchanged.
 */
export class SdkFetch {
  readonly #server: ServerContext<ProviderSettings>;
  readonly #options: SdkFetchOptions;
  readonly #providers = new Map<string, Promise<Provider>>();

  constructor(server: ServerContext<ProviderSettings>, options: SdkFetchOptions) {
    this.#server = server;
    this.#options = options;
  }

  /** A `fetch` for one call; it adds the cost to the record. */
  forCall(
    record: CallRecord,
    scope: { signal: AbortSignal; sessionId: string; rolloutId?: string | undefined },
  ) {
    return async (input: unknown, init: FetchInit = {}): Promise<Response> => {
      const url = new URL(input instanceof Request ? input.url : String(input));
      const provider = await this.#provider(url.origin);
      const reply = await provider.call({
        method: (init.method ?? "GET") === "GET" ? "GET" : "POST",
        path: url.pathname + url.search,
        headers: plainHeaders(init.headers),
        ...(typeof init.body === "string" && { rawBody: init.body }),
        ...scope,
        read: (_body, { text, status, headers }) => ({ text, status, headers }),
      });
      record.cached ||= reply.cached;
      record.retries += reply.retries;
      record.waitedMs += reply.waitedMs;
      if (reply.cost !== null) record.cost = (record.cost ?? 0) + reply.cost;
      const { text, status } = reply.value;
      return new Response(text, { status, headers: { "content-type": "application/json" } });
    };
  }

  #provider(origin: string): Promise<Provider> {
    const { apiKey, model, maxConcurrent } = this.#options;
    let provider = this.#providers.get(origin);
    if (!provider) {
      provider = openProvider(this.#server, {
        baseUrl: origin,
        baseUrlKey: "base_url",
        // The SDK writes the headers. The key is passed only to keep it out of messages.
        apiKey,
        authorize: () => ({}),
        model,
        maxConcurrent,
      });
      this.#providers.set(origin, provider);
    }
    return provider;
  }
}

function plainHeaders(headers: unknown): Record<string, string> {
  if (!headers) return {};
  return Object.fromEntries(new Headers(headers as Record<string, string>).entries());
}
