import { Deadline, GymError, sleep } from "nemo-gym";
import { isObject, JsonTextError, loadsPlain } from "nemo-gym/python";
import { request } from "undici";
import { z } from "zod";
import type { SearchProvider } from "./provider.ts";

export interface TavilyOptions {
  baseUrl: string;
  /** Used in turn. */
  apiKeys: readonly string[];
  timeoutMs: number;
}

const maxResults = 10;
const maxBytes = 16 * 1024 * 1024;
const maxQuoted = 300;
const pauseMs = 500;
/** Tries after an error of the service; a rate limit has more. */
const maxTries = 3;
const maxLimitedTries = 60;

const Found = z.looseObject({
  answer: z.string().nullish(),
  results: z.array(z.looseObject({ url: z.string(), title: z.string(), content: z.string().nullish() })),
});
const Extracted = z.looseObject({ results: z.array(z.looseObject({ raw_content: z.string().nullish() })) });

/** The service did not answer as expected. */
class TavilyError extends GymError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("TAVILY_FAILED", message, options);
  }
}

/** The search service Tavily, or one that answers like it. */
export function tavily(options: TavilyOptions): SearchProvider {
  let calls = 0;
  const call = (path: string, body: object, signal: AbortSignal) => {
    const key = options.apiKeys[calls++ % options.apiKeys.length] ?? "";
    return post(`${options.baseUrl}${path}`, key, body, options.timeoutMs, signal);
  };
  return {
    async search(query, { excludeDomains, signal }) {
      const body = {
        query,
        search_depth: "advanced",
        max_results: maxResults,
        exclude_domains: excludeDomains,
      };
      return read(Found, await call("/search", body, signal));
    },
    async extract(url, { query, signal }) {
      const body = { urls: url, ...(query !== undefined && { query }) };
      return read(Extracted, await call("/extract", body, signal)).results[0]?.raw_content ?? "";
    },
  };
}

function read<Value>(schema: z.ZodType<Value>, reply: unknown): Value {
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  throw new TavilyError(`the reply has an unknown form: ${parsed.error.issues[0]?.message}`);
}

async function post(
  url: string,
  key: string,
  body: object,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<unknown> {
  for (let tries = 1, limited = 0; ; tries++) {
    const { status, text } = await send(url, key, body, timeoutMs, signal);
    if (status < 400) return parse(text);
    const isLimit = status === 429 && ++limited <= maxLimitedTries;
    if (!isLimit && (status < 500 || tries - limited >= maxTries))
      throw new TavilyError(`${status} from ${new URL(url).host}: ${detailOf(text)}`);
    await sleep(pauseMs, signal);
  }
}

async function send(url: string, key: string, body: object, timeoutMs: number, signal: AbortSignal) {
  const deadline = new Deadline(timeoutMs, signal);
  try {
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
    const reply = await request(url, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal: deadline.signal,
    });
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of reply.body) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      if (text.length > maxBytes) throw new TavilyError(`the reply is longer than ${maxBytes} bytes`);
    }
    return { status: reply.statusCode, text: text + decoder.decode() };
  } finally {
    deadline.clear();
  }
}

function parse(text: string): unknown {
  try {
    return loadsPlain(text);
  } catch (error) {
    if (error instanceof JsonTextError) throw new TavilyError("the reply is not JSON", { cause: error });
    throw error;
  }
}

function detailOf(text: string): string {
  try {
    const reply = loadsPlain(text);
    const detail = isObject(reply) ? reply["detail"] : undefined;
    return JSON.stringify(detail ?? reply).slice(0, maxQuoted);
  } catch {
    return text.slice(0, maxQuoted);
  }
}
