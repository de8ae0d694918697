import type { Readable } from "node:stream";
import { request } from "undici";
import { transferDispatcher } from "./dispatcher.ts";
import { type Headers, header, RemoteError, unreachable } from "./errors.ts";

const MAX_REDIRECTS = 10;

/** The answer to a GET, after redirects. */
export interface DownloadAnswer {
  host: string;
  statusCode: number;
  headers: Headers;
  body: Readable;
  /** From the first answer with information about the content. The hub sends it before it redirects to its store. */
  linked: { etag: string | undefined; size: number | undefined };
}

interface OpenDownloadOptions {
  headers?: Readonly<Record<string, string>>;
  secrets?: readonly (string | undefined)[];
  signal?: AbortSignal;
}

/** Sends a GET and follows redirects. Credentials are not sent to another origin. */
export async function openDownload(url: string, options: OpenDownloadOptions = {}): Promise<DownloadAnswer> {
  const linked: DownloadAnswer["linked"] = { etag: undefined, size: undefined };
  let headers: Record<string, string> = { "accept-encoding": "identity", ...options.headers };
  let target = new URL(url);
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await send(target, headers, options);
    linked.etag ??= header(answer.headers, "x-linked-etag");
    const size = Number(header(answer.headers, "x-linked-size") ?? Number.NaN);
    if (linked.size === undefined && Number.isSafeInteger(size)) linked.size = size;
    const location = header(answer.headers, "location");
    if (answer.statusCode < 300 || answer.statusCode >= 400 || location === undefined) {
      const { statusCode, body } = answer;
      return { host: target.host, statusCode, headers: answer.headers, body, linked };
    }
    await answer.body.dump();
    const next = redirectTarget(location, target);
    if (next.origin !== target.origin) headers = withoutCredentials(headers);
    target = next;
  }
  throw new RemoteError(
    "REMOTE_UNEXPECTED_ANSWER",
    `${target.host} redirects more than ${MAX_REDIRECTS} times.`,
  );
}

async function send(target: URL, headers: Record<string, string>, options: OpenDownloadOptions) {
  try {
    return await request(target, { headers, signal: options.signal, dispatcher: transferDispatcher() });
  } catch (error) {
    options.signal?.throwIfAborted();
    throw unreachable(target.host, error, { secrets: options.secrets });
  }
}

function redirectTarget(location: string, from: URL): URL {
  const next = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (next?.protocol === "https:" || (next?.protocol === "http:" && from.protocol === "http:")) return next;
  throw new RemoteError(
    "REMOTE_UNEXPECTED_ANSWER",
    `${from.host} redirects to an address that cannot be followed.`,
  );
}

function withoutCredentials(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !["authorization", "cookie"].includes(name.toLowerCase())),
  );
}
