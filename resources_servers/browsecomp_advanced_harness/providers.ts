import { Deadline, GymError, type ServerContext, sleep } from "nemo-gym";
import { isObject } from "nemo-gym/python";
import { request } from "undici";
import { z } from "zod";
import type { Config } from "./config.ts";

export interface Result {
  title: string;
  url: string;
  content: string;
}
export interface Page {
  url: string;
  content: string;
}
interface CallOptions {
  signal: AbortSignal;
  /** Called before a request is repeated. */
  onRetry(status: number): void;
}

/** Where results and pages come from. */
export interface PageProvider {
  search(
    query: string,
    options: CallOptions & { maxResults: number; excludeDomains: readonly string[] },
  ): Promise<Result[]>;
  extract(urls: readonly string[], options: CallOptions): Promise<Page[]>;
}

const MAX_BYTES = 32 * 1024 * 1024;
const MAX_QUOTED = 300;
const PAUSE_MS = 500;
const MAX_TRIES = 3;
/** Rate limits do not use up tries, but they end some time. */
const MAX_LIMITED = 120;

/** The provider did not answer as expected. */
class ProviderError extends GymError {
  constructor(message: string) {
    super("SEARCH_FAILED", message);
  }
}
/** The provider does not accept the query. */
export class SearchRejected extends ProviderError {}

const text = z
  .string()
  .nullish()
  .transform((given) => given ?? "");
const TavilyResults = z.looseObject({
  results: z.array(z.looseObject({ title: text, url: z.string(), content: text, raw_content: text })),
});
const TavilyPages = z.looseObject({
  results: z.array(z.looseObject({ url: z.string(), raw_content: text })),
});
const ExaResults = z.looseObject({ results: z.array(z.looseObject({ title: text, url: z.string(), text })) });

/** The provider that the config names. */
export function openProvider({ config }: ServerContext<Config>): PageProvider {
  const isTavily = config.search_provider === "tavily";
  const keys = [(isTavily ? config.tavily_api_key : config.exa_api_key) ?? []].flat();
  const baseUrl = (isTavily ? config.tavily_base_url : config.exa_base_url).replace(/\/+$/, "");
  let calls = 0;
  const call = async <Value>(path: string, schema: z.ZodType<Value>, body: object, options: CallOptions) => {
    const key = keys[calls++ % keys.length] ?? "";
    const headers: Record<string, string> = isTavily
      ? { authorization: `Bearer ${key}` }
      : { "x-api-key": key };
    const parsed = schema.safeParse(
      await post(baseUrl + path, headers, body, config.search_timeout_seconds * 1000, options),
    );
    if (!parsed.success)
      throw new ProviderError(`the reply has an unknown form: ${parsed.error.issues[0]?.message}`);
    return parsed.data;
  };
  if (isTavily)
    return {
      async search(query, { maxResults, excludeDomains, ...options }) {
        const depth = { search_depth: "advanced", include_raw_content: true };
        const body = { query, max_results: maxResults, exclude_domains: excludeDomains, ...depth };
        const { results } = await call("/search", TavilyResults, body, options);
        return results.map(({ title, url, content, raw_content }) => ({
          title,
          url,
          content: raw_content || content,
        }));
      },
      async extract(urls, options) {
        const { results } = await call("/extract", TavilyPages, { urls }, options);
        return results.map(({ url, raw_content: content }) => ({ url, content }));
      },
    };
  const pagesOf = ({ results }: z.output<typeof ExaResults>) =>
    results.map(({ title, url, text: content }) => ({ title, url, content }));
  return {
    async search(query, { maxResults, excludeDomains, ...options }) {
      const body = { query, numResults: maxResults, excludeDomains, contents: { text: true } };
      return pagesOf(await call("/search", ExaResults, body, options));
    },
    extract: async (urls, options) =>
      pagesOf(await call("/contents", ExaResults, { urls, text: true }, options)),
  };
}

async function post(
  url: string,
  headers: Record<string, string>,
  body: object,
  timeoutMs: number,
  { signal, onRetry }: CallOptions,
): Promise<unknown> {
  for (let tries = 1, limited = 0; ; ) {
    const { status, value } = await send(url, headers, body, timeoutMs, signal);
    if (status < 400) return value;
    const message = `${status} from ${new URL(url).host}: ${JSON.stringify(detailOf(value)).slice(0, MAX_QUOTED)}`;
    if (status === 400 || status === 422) throw new SearchRejected(message);
    const mayRetry = status === 429 ? ++limited <= MAX_LIMITED : status >= 500 && tries++ < MAX_TRIES;
    if (!mayRetry) throw new ProviderError(message);
    onRetry(status);
    await sleep(PAUSE_MS, signal);
  }
}

async function send(
  url: string,
  headers: Record<string, string>,
  body: object,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ status: number; value: unknown }> {
  const deadline = new Deadline(timeoutMs, signal);
  try {
    const reply = await request(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
      signal: deadline.signal,
    });
    const decoder = new TextDecoder();
    let received = "";
    for await (const chunk of reply.body) {
      received += decoder.decode(chunk as Uint8Array, { stream: true });
      if (received.length > MAX_BYTES) throw new ProviderError(`the reply is longer than ${MAX_BYTES} bytes`);
    }
    return { status: reply.statusCode, value: parse(received, reply.statusCode) };
  } finally {
    deadline.clear();
  }
}

function parse(received: string, status: number): unknown {
  try {
    return JSON.parse(received);
  } catch {
    if (status >= 400) return received;
    throw new ProviderError("the reply is not JSON");
  }
}

function detailOf(value: unknown): unknown {
  return isObject(value) ? (value["detail"] ?? value["error"] ?? value) : value;
}
