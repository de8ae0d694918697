import { Readable } from "node:stream";
import { type CommitParams, HubApiError } from "@huggingface/hub";
import { type BodyInit, request, fetch as undiciFetch } from "undici";
import { redactMessage } from "../../base/secrets.ts";
import { transferDispatcher } from "./dispatcher.ts";
import {
  aboutSubject,
  answerError,
  header,
  messageOfBody,
  RemoteError,
  statusError,
  unreachable,
  webPage,
} from "./errors.ts";
import { type RetryPolicy, withRetries } from "./retry.ts";

const DEFAULT_HUB_URL = "https://huggingface.co";

type HubFetch = NonNullable<CommitParams["fetch"]>;

/** The address and token of the Hugging Face hub. */
export interface HubAccess {
  token?: string;
  /** Address of the hub, without a trailing slash. */
  hubUrl?: string;
  signal?: AbortSignal;
  retries?: RetryPolicy;
  onRetry?: (error: RemoteError, delayMs: number) => void;
}

export function hubUrl(access: HubAccess): string {
  return checkedAddress(access.hubUrl ?? DEFAULT_HUB_URL, "hf_endpoint or HF_ENDPOINT", DEFAULT_HUB_URL);
}

export function hubHeaders(access: HubAccess): Record<string, string> {
  return access.token === undefined ? {} : { authorization: `Bearer ${access.token}` };
}

/** Parameters of `@huggingface/hub`: address, token, and a fetch with retries and proxies. */
export function hubParams(access: HubAccess, onSent?: (bytes: number) => void) {
  return {
    hubUrl: hubUrl(access),
    fetch: hubFetch(access, onSent),
    accessToken: access.token,
  };
}

/** Runs a call to the hub. Its errors become RemoteErrors with status, host and message. */
export async function callHub<T>(access: HubAccess, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    access.signal?.throwIfAborted();
    throw hubError(access, error);
  }
}

/** A JSON call without a function in the library. With a body it is a POST. */
export async function hubJson(access: HubAccess, route: string, body?: unknown): Promise<unknown> {
  const text = await hubText(access, route, body);
  return callHub(access, async () => JSON.parse(text) as unknown);
}

/** The text at a path of the hub. With a body the request is a POST. */
export function hubText(access: HubAccess, route: string, body?: unknown): Promise<string> {
  const send = hubFetch(access);
  return callHub(access, async () => {
    const answer = await send(`${hubUrl(access)}${route}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { ...hubHeaders(access), "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (answer.ok) return text;
    const { host } = new URL(hubUrl(access));
    throw statusError(host, answer.status, redactMessage(messageOfBody(text), [access.token]));
  });
}

/** The hub hides what a token may not see, so a rejection names what can be behind it. */
export function aboutDataset(access: HubAccess, repository: string, error: unknown): unknown {
  if (!(error instanceof RemoteError) || ![401, 403, 404].includes(error.status ?? 0))
    return aboutSubject(error, `dataset '${repository}'`);
  const page = `${hubUrl(access)}/datasets/${repository}`;
  const token =
    access.token === undefined
      ? "no token was sent: set hf_token in env.yaml, or HF_TOKEN"
      : "the account of the token needs access";
  return new RemoteError(
    error.code,
    `${error.message} The dataset '${repository}' does not exist, is private, or is gated. ` +
      `Check the name and, if it is gated, accept its terms at ${page}; ${token}.`,
    { status: error.status, cause: error },
  );
}

function hubError(access: HubAccess, error: unknown): unknown {
  const host = new URL(hubUrl(access)).host;
  if (error instanceof RemoteError) return error;
  if (error instanceof HubApiError) {
    const message = error.data === undefined ? error.message : messageOfBody(JSON.stringify(error.data));
    return statusError(host, error.statusCode, redactMessage(message, [access.token]));
  }
  // The library does not check the type of an answer before it reads JSON and fields.
  if (error instanceof SyntaxError) return webPage(host, error);
  if (error instanceof TypeError && error.message.includes("must start with 'hf_'")) {
    return new RemoteError("REMOTE_UNAUTHORIZED", "The Hugging Face token (hf_token) must start with 'hf_'.");
  }
  if (error instanceof TypeError) {
    const message = `${host} does not answer like the hub: ${error.message}`;
    return new RemoteError("REMOTE_UNEXPECTED_ANSWER", message, { cause: error });
  }
  return error;
}

/** A `fetch` with limited retries and without keys in its errors. A commit is repeated only if the hub rejected it. */
function hubFetch(access: HubAccess, onSent?: (bytes: number) => void): HubFetch {
  const send = async (input: Parameters<HubFetch>[0], init: RequestInit = {}): Promise<Response> => {
    const url = String(input instanceof Request ? input.url : input);
    const method = (init.method ?? "GET").toUpperCase();
    const answer = await attempt(url, method, init);
    if (!mayRepeat(actsTwice(method, url), answer.status)) return answer;
    const message = redactMessage(messageOfBody(await answer.text()), [access.token]);
    throw statusError(
      new URL(url).host,
      answer.status,
      message,
      answer.headers.get("retry-after") ?? undefined,
    );
  };
  const attempt = async (url: string, method: string, init: RequestInit): Promise<Response> => {
    try {
      if (method === "PUT" && init.body instanceof Blob) return await putBlob(url, init, init.body, onSent);
      const { signal = access.signal, headers } = init;
      const body = init.body as BodyInit | null | undefined;
      const plain = { method, body, headers: Object.fromEntries(new Headers(headers)), signal };
      return (await undiciFetch(url, { ...plain, dispatcher: transferDispatcher() })) as unknown as Response;
    } catch (error) {
      access.signal?.throwIfAborted();
      init.signal?.throwIfAborted();
      const retryable = !actsTwice(method, url);
      throw unreachable(new URL(url).host, error, { secrets: [access.token], retryable });
    }
  };
  return (input, init) =>
    withRetries(() => send(input, init), {
      policy: access.retries,
      signal: init?.signal ?? access.signal,
      onRetry: access.onRetry,
    });
}

/** Whether a repeated request could take effect twice. All other POST requests are idempotent on the hub. */
function actsTwice(method: string, url: string): boolean {
  return method === "POST" && /\/commit\/[^/]+$/.test(new URL(url).pathname);
}

/** A request with 429 or 503 had no effect. With another server error it may have had one. */
function mayRepeat(actsTwice: boolean, status: number): boolean {
  return status === 429 || status === 503 || (!actsTwice && status >= 500);
}

/** Uploads a file with its length, which signed addresses require, and reports the bytes sent. */
async function putBlob(url: string, init: RequestInit, blob: Blob, onSent?: (bytes: number) => void) {
  async function* chunks() {
    for await (const chunk of blob.stream()) {
      yield chunk;
      onSent?.(chunk.length);
    }
  }
  const answer = await request(url, {
    method: "PUT",
    headers: { ...Object.fromEntries(new Headers(init.headers)), "content-length": String(blob.size) },
    body: Readable.from(chunks()),
    signal: init.signal ?? undefined,
    dispatcher: transferDispatcher(),
  });
  if (answer.statusCode >= 400) {
    const { message } = await answerError(new URL(url).host, answer, []);
    const retryAfter = header(answer.headers, "retry-after");
    return Response.json(
      { error: message },
      { status: answer.statusCode, headers: retryAfter === undefined ? {} : { "retry-after": retryAfter } },
    );
  }
  await answer.body.dump();
  const etag = header(answer.headers, "etag");
  return new Response(null, { status: answer.statusCode, headers: etag === undefined ? {} : { etag } });
}

/** A configured address without trailing slashes. `keys` are the settings for the error message. */
export function checkedAddress(given: string, keys: string, example: string): string {
  if (/^https?:\/\//i.test(given) && URL.canParse(given)) return given.replace(/\/+$/, "");
  const shown = redactMessage(given, []);
  throw new RemoteError(
    "REMOTE_ADDRESS_INVALID",
    `'${shown}' (${keys}) is not an address; it must look like ${example}.`,
  );
}
