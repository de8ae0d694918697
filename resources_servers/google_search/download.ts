import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { GymError } from "nemo-gym";
import { request } from "undici";
import type { GuardedAgent } from "./guarded-agent.ts";

export interface DownloadLimits {
  /** Maximum number of decompressed bytes to read; the rest is ignored. */
  maxBytes: number;
  maxRedirects: number;
  userAgent: string;
}

export interface Download {
  /** Lower case, without parameters. */
  contentType: string;
  charset: string | undefined;
  /** Chunks of the decompressed body. */
  body: AsyncIterable<Uint8Array>;
}

/** A page that cannot be fetched at all, for example a URL without a host. */
export class DownloadError extends GymError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("GOOGLE_SEARCH_DOWNLOAD", message, options);
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Opens a page and follows redirects; undefined if the server does not return a page. The agent checks every hop. */
export async function openPage(
  address: string,
  agent: GuardedAgent,
  limits: DownloadLimits,
  signal: AbortSignal,
): Promise<Download | undefined> {
  let url = webUrl(address);
  for (let hop = 0; hop <= limits.maxRedirects; hop++) {
    agent.check(url);
    const { statusCode, headers, body } = await request(url, {
      dispatcher: agent.dispatcher,
      signal,
      headers: {
        accept: "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.1",
        "accept-encoding": "gzip, deflate, br",
        "user-agent": limits.userAgent,
      },
    });
    const location = single(headers["location"]);
    if (REDIRECTS.has(statusCode) && location !== undefined) {
      discard(body);
      url = webUrl(location, url);
      continue;
    }
    if (statusCode !== 200) {
      discard(body);
      return undefined;
    }
    const [contentType = "", ...parameters] = (single(headers["content-type"]) ?? "")
      .toLowerCase()
      .split(";");
    const charset = parameters
      .map((text) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/.exec(text)?.[1])
      .find(Boolean);
    const unpacked = unpack(body, single(headers["content-encoding"]));
    return { contentType: contentType.trim(), charset, body: firstBytes(unpacked, limits.maxBytes) };
  }
  throw new DownloadError(`more than ${limits.maxRedirects} redirects`);
}

function webUrl(address: string, base?: URL): URL {
  const url = URL.canParse(address, base?.href) ? new URL(address, base) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new DownloadError(`not a web address: ${address.slice(0, 200)}`);
  }
  return url;
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** Discards a body and closes its connection. */
function discard(body: Readable): void {
  body.on("error", () => {});
  body.destroy();
}

function unpack(body: Readable, encoding: string | undefined): Readable {
  const unpacker = unpackerFor(encoding?.trim().toLowerCase());
  if (unpacker === undefined) return body;
  // Errors of both streams surface where the decompressed stream is read.
  pipeline(body, unpacker, () => {});
  return unpacker;
}

function unpackerFor(encoding: string | undefined) {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      return undefined;
  }
}

async function* firstBytes(stream: Readable, limit: number): AsyncGenerator<Uint8Array> {
  let left = limit;
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      yield chunk.subarray(0, left);
      left -= chunk.length;
      if (left <= 0) return;
    }
  } finally {
    discard(stream);
  }
}
