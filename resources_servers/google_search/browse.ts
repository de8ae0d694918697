import { setImmediate } from "node:timers/promises";
import { TextDecoder } from "node:util";
import { Deadline } from "nemo-gym";
import { splitWords } from "nemo-gym/python";
import { type Download, type DownloadLimits, openPage } from "./download.ts";
import type { GuardedAgent } from "./guarded-agent.ts";
import { TextExtractor } from "./html/extract-text.ts";

export const NO_HTML = "No HTML found";
const NO_TEXT = "No text found";

const MAX_WORDS = 10_000;
/** Characters kept from the start and from the end of a page with more words than that. */
const KEPT_CHARACTERS = 5000;
/** Number of bytes searched for a character set declared in the page. */
const SNIFFED_BYTES = 2048;
/** Characters parsed before control returns to the event loop. */
const SLICE = 16 * 1024;

const HTML_TYPES = new Set(["", "text/html", "application/xhtml+xml", "application/xml", "text/xml"]);
const META_CHARSET = /<meta[^>]{0,200}?charset\s{0,5}=\s{0,5}["']?([\w:-]{1,40})/i;

export interface BrowseLimits extends DownloadLimits {
  /** Limit for the whole request: redirects, headers and body. */
  timeoutMs: number;
}

/** Fetches a page and returns its text, shortened if it is very long. */
export async function browse(
  url: string,
  agent: GuardedAgent,
  limits: BrowseLimits,
  signal: AbortSignal,
): Promise<string> {
  // Not AbortSignal.any with AbortSignal.timeout: Node 20 may collect the latter as garbage before it fires.
  const deadline = new Deadline(limits.timeoutMs, signal);
  try {
    return await readPage(url, agent, limits, deadline.signal);
  } finally {
    deadline.clear();
  }
}

async function readPage(
  url: string,
  agent: GuardedAgent,
  limits: DownloadLimits,
  signal: AbortSignal,
): Promise<string> {
  const download = await openPage(url, agent, limits, signal);
  if (download === undefined) return NO_HTML;
  const isHtml = HTML_TYPES.has(download.contentType);
  if (!isHtml && !download.contentType.startsWith("text/") && !download.contentType.endsWith("json"))
    return NO_HTML;
  const text = isHtml ? await htmlText(download) : await plainText(download);
  if (text === undefined) return NO_HTML;
  return text === "" ? NO_TEXT : shorten(text);
}

async function htmlText(download: Download): Promise<string | undefined> {
  const extractor = new TextExtractor();
  let empty = true;
  for await (const chunk of decoded(download)) {
    if (chunk !== "") empty = false;
    for (let at = 0; at < chunk.length; at += SLICE) {
      extractor.write(chunk.slice(at, at + SLICE));
      await setImmediate();
    }
  }
  return empty ? undefined : extractor.end();
}

async function plainText(download: Download): Promise<string | undefined> {
  let text = "";
  for await (const chunk of decoded(download)) text += chunk;
  return text === "" ? undefined : text.trim();
}

/** The body as text, in the character set of the header, else of the page, else UTF-8. */
async function* decoded({ body, charset }: Download): AsyncGenerator<string> {
  let decoder = charset === undefined ? undefined : decoderFor(charset);
  let head = Buffer.alloc(0);
  for await (const chunk of body) {
    if (decoder !== undefined) {
      yield decoder.decode(chunk, { stream: true });
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < SNIFFED_BYTES) continue;
    decoder = sniffedDecoder(head);
    yield decoder.decode(head, { stream: true });
  }
  if (decoder !== undefined) yield decoder.decode();
  else yield sniffedDecoder(head).decode(head);
}

function sniffedDecoder(head: Buffer): TextDecoder {
  const named = META_CHARSET.exec(head.subarray(0, SNIFFED_BYTES).toString("latin1"))?.[1];
  return decoderFor(named ?? "utf-8");
}

function decoderFor(label: string): TextDecoder {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}

/** Removes the middle of pages with more than ten thousand words. */
export function shorten(text: string): string {
  if (splitWords(text).length <= MAX_WORDS) return text;
  const characters = Array.from(text);
  const head = characters.slice(0, KEPT_CHARACTERS).join("");
  return `${head}...${characters.slice(-KEPT_CHARACTERS).join("")}`;
}
