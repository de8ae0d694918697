import { Deadline, GymError } from "nemo-gym";
import { dumps, JsonTextError, loads } from "nemo-gym/python";
import { request } from "undici";

export interface SearchOptions {
  endpoint: string;
  apiKey: string;
  engineId: string;
  timeoutMs: number;
}

/** Maximum number of bytes read from a reply; ten results take about 30 kB. */
const MAX_REPLY = 4 * 1024 * 1024;
const MAX_QUOTED = 300;

/** The search service returned an unexpected reply. */
class SearchError extends GymError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("GOOGLE_SEARCH_FAILED", message, options);
  }
}

/** Queries the search service and returns its reply as JSON text in Python's style. */
export async function search(query: string, options: SearchOptions, signal: AbortSignal): Promise<string> {
  const url = new URL(options.endpoint);
  url.searchParams.set("key", options.apiKey);
  url.searchParams.set("cx", options.engineId);
  url.searchParams.set("q", query);
  const deadline = new Deadline(options.timeoutMs, signal);
  try {
    const text = await readReply(url, deadline.signal);
    return dumps(loads(text, { allowNonFinite: true }));
  } catch (error) {
    if (error instanceof JsonTextError)
      throw new SearchError(`the reply of ${url.host} is not JSON`, { cause: error });
    throw error;
  } finally {
    deadline.clear();
  }
}

async function readReply(url: URL, signal: AbortSignal): Promise<string> {
  const { statusCode, body } = await request(url, { signal, headers: { accept: "application/json" } });
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > MAX_REPLY)
      throw new SearchError(`the reply of ${url.host} is longer than ${MAX_REPLY} bytes`);
  }
  text += decoder.decode();
  if (statusCode >= 400)
    throw new SearchError(`${statusCode} from ${url.host}: ${text.slice(0, MAX_QUOTED)}`);
  return text;
}
