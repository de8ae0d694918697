import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { answerError, type Headers } from "../remote/answer.ts";
import { RemoteError, unreachable } from "../remote/errors.ts";
import { type RetryPolicy, withRetries } from "../remote/retry.ts";
import { redactMessage } from "../secrets.ts";

/** Few and quick: the user is waiting for a finished run. */
const RETRIES: RetryPolicy = { attempts: 4, baseDelayMs: 300, maxDelayMs: 5_000 };

/** A tracking service: its key goes with every request to it and never into a message. */
export interface Service {
  headers: Readonly<Record<string, string>>;
  secrets: readonly (string | undefined)[];
  retries?: RetryPolicy | undefined;
}

/** Sends JSON and reads JSON; a failing status is a RemoteError with the service's own words. */
export async function callJson(
  service: Service,
  method: "GET" | "POST" | "PATCH",
  url: string,
  body: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  return withRetries(
    async () => {
      const text = await send(service, method, url, {
        headers: { ...service.headers, "content-type": "application/json" },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal,
      });
      try {
        return text === "" ? {} : (JSON.parse(text) as unknown);
      } catch (error) {
        const message = `${new URL(url).host} did not answer with JSON; is the address right?`;
        throw new RemoteError("REMOTE_UNEXPECTED_ANSWER", message, { cause: error });
      }
    },
    { policy: service.retries ?? RETRIES, signal },
  );
}

/** Uploads a file with PUT; `headers` are those of the upload, which may go to another host than the service's. */
export async function putFile(
  service: Service,
  url: string,
  file: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const { size } = await stat(file);
  await withRetries(
    async () => {
      const body = createReadStream(file);
      try {
        await send(service, "PUT", url, {
          headers: { ...headers, "content-length": String(size) },
          body,
          signal,
        });
      } finally {
        body.destroy();
      }
    },
    { policy: service.retries ?? RETRIES, signal },
  );
}

async function send(
  service: Service,
  method: "GET" | "POST" | "PATCH" | "PUT",
  url: string,
  options: { headers: Record<string, string>; body?: string | Readable | undefined; signal: AbortSignal },
): Promise<string> {
  const { host } = new URL(url);
  // Loaded by runs that export something, and not by the others.
  const { request } = await import("undici");
  const { transferDispatcher } = await import("../remote/dispatcher.ts");
  let answer: Dispatcher.ResponseData;
  try {
    answer = await request(url, {
      method,
      headers: options.headers,
      signal: options.signal,
      dispatcher: transferDispatcher(),
      ...(options.body !== undefined && { body: options.body }),
    });
  } catch (error) {
    options.signal.throwIfAborted();
    const { code, message } = unreachable(host, error);
    throw new RemoteError(code, redactMessage(message, service.secrets), { retryable: true, cause: error });
  }
  if (answer.statusCode < 300) return answer.body.text();
  throw await answerError(host, { ...answer, headers: answer.headers as Headers }, service.secrets);
}
