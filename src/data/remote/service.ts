import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { TransferProgress } from "./download-file.ts";
import { answerError, RemoteError, unreachable } from "./errors.ts";
import { type RetryOptions, withRetries } from "./retry.ts";

/** A service with a key. The headers contain the key; messages never do. */
export interface RemoteService extends RetryOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly (string | undefined)[];
  /** The setting with the address, for the message about a wrong address. */
  readonly addressKey?: string;
  /** Whether a POST without an answer must not be repeated. */
  readonly postsOnce?: boolean;
}

type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/** Sends JSON and reads JSON. A failing status is a RemoteError with the message of the service. */
export async function callJson(
  service: RemoteService,
  method: Method,
  url: string,
  body?: unknown,
): Promise<unknown> {
  return withRetries(async () => {
    const answer = await sendOnce(service, method, url, {
      headers: { ...service.headers, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.body.text();
    try {
      return text === "" ? {} : (JSON.parse(text) as unknown);
    } catch (error) {
      // A wrong address often returns a web page.
      const message = `${new URL(url).host} did not answer with JSON; is ${service.addressKey ?? "the address"} right?`;
      throw new RemoteError("REMOTE_UNEXPECTED_ANSWER", message, { cause: error });
    }
  }, service);
}

/** Uploads a file with PUT. `headers` replace those of the service, because the upload may go to another host. */
export async function putFile(
  service: RemoteService,
  url: string,
  file: string,
  {
    headers = service.headers,
    onProgress,
  }: {
    headers?: Readonly<Record<string, string>>;
    onProgress?: (progress: TransferProgress) => void;
  } = {},
): Promise<void> {
  const { size } = await stat(file);
  await withRetries(async () => {
    let done = 0;
    const body = createReadStream(file);
    body.on("data", (chunk) => {
      done += chunk.length;
      onProgress?.({ done, total: size });
    });
    try {
      const answer = await sendOnce(service, "PUT", url, {
        headers: { ...headers, "content-length": String(size) },
        body,
      });
      await answer.body.dump();
    } finally {
      body.destroy();
    }
  }, service);
}

/** Sends one request without retries. A failing status or a broken connection is a RemoteError. */
export async function sendOnce(
  { secrets, signal, postsOnce }: RemoteService,
  method: Method,
  url: string,
  { headers, body }: { headers: Record<string, string>; body?: string | Readable },
): Promise<Dispatcher.ResponseData> {
  const { host } = new URL(url);
  // Loaded on demand: most commands do not call a service.
  const { request } = await import("undici");
  const { transferDispatcher } = await import("./dispatcher.ts");
  let answer: Dispatcher.ResponseData;
  try {
    answer = await request(url, { method, headers, body, signal, dispatcher: transferDispatcher() });
  } catch (error) {
    signal?.throwIfAborted();
    throw unreachable(host, error, { secrets, retryable: !(postsOnce && method === "POST") });
  }
  if (answer.statusCode < 300) return answer;
  throw await answerError(host, answer, secrets);
}
