import type { FileHandle } from "node:fs/promises";
import path from "node:path";
import { makeDirectory } from "../../base/files/door.ts";
import { redactMessage } from "../../base/secrets.ts";
import { type Checksum, checksumOfFile, checksumOfHeaders, checksumOfHubEtag } from "./checksum.ts";
import { answerError, header, RemoteError, unreachable, webPage } from "./errors.ts";
import { type DownloadAnswer, openDownload } from "./open-download.ts";
import { PartFile } from "./part-file.ts";
import { pauseAfter, type RetryPolicy } from "./retry.ts";

/** A failure after this many new bytes resets the count of attempts. */
const PROGRESS_BYTES = 1 << 20;

export interface TransferProgress {
  /** Bytes so far, including those of an earlier run. */
  done: number;
  /** Undefined if the server does not report the size. */
  total: number | undefined;
}

export interface DownloadOptions {
  url: string;
  destination: string;
  headers?: Readonly<Record<string, string>>;
  /** Texts that must not appear in an error. */
  secrets?: readonly (string | undefined)[];
  /** Whether the entity tag is the address of the content, as on the Hugging Face hub. */
  etagIsAddress?: boolean;
  /** A larger file is rejected. Default: no limit. */
  maxBytes?: number;
  signal?: AbortSignal;
  retries?: RetryPolicy;
  onProgress?: (progress: TransferProgress) => void;
  onRetry?: (error: RemoteError, delayMs: number) => void;
}

export interface DownloadResult {
  bytes: number;
  /** The host that sent the file, after redirects. */
  host: string;
  /** Bytes of an earlier, interrupted run that were not fetched again. */
  resumedFrom: number;
  /** Undefined if the server reported no checksum. */
  checksum: Checksum | undefined;
}

/**
 * Downloads `url` to `destination`. The bytes go to a `.part` file, which is continued after an interruption, even by a later
 * run. The file is compared with the checksum of the server and then renamed, so the destination is never incomplete.
 */
export async function downloadFile(options: DownloadOptions): Promise<DownloadResult> {
  await makeDirectory(path.dirname(path.resolve(options.destination)));
  const part = new PartFile(options.destination);
  const resumedFrom = (await part.left()).size;
  let failures = 0;
  for (;;) {
    options.signal?.throwIfAborted();
    const before = (await part.left()).size;
    try {
      const { bytes, host, checksum, resumed } = await fetchRest(options, part);
      await verify(options, part, { checksum, resumed });
      await part.finish();
      return { bytes, host, checksum, resumedFrom: resumed ? resumedFrom : 0 };
    } catch (error) {
      const progressed = (await part.left()).size - before >= PROGRESS_BYTES;
      failures = progressed ? 0 : failures + 1;
      const { retries: policy, signal, onRetry } = options;
      await pauseAfter(error, failures, { policy, signal, onRetry });
    }
  }
}

async function fetchRest(
  options: DownloadOptions,
  part: PartFile,
): Promise<Omit<DownloadResult, "resumedFrom"> & { resumed: boolean }> {
  const left = await part.left();
  const answer = await openDownload(options.url, {
    headers: { ...options.headers, ...(left.size > 0 && { range: `bytes=${left.size}-` }) },
    secrets: options.secrets,
    signal: options.signal,
  });
  const identity = identityOf(answer);
  const address = options.etagIsAddress ? checksumOfHubEtag(identity) : undefined;
  const checksum = address ?? checksumOfHeaders(answer.headers);
  if (alreadyComplete(answer, left)) {
    answer.body.on("error", () => {}).destroy();
    return { bytes: left.size, host: answer.host, resumed: true, checksum };
  }
  if (answer.statusCode === 416 || (answer.statusCode === 206 && !continues(answer, left))) {
    answer.body.on("error", () => {}).destroy();
    if (left.size === 0) throw await answerError(answer.host, answer, options.secrets ?? []);
    await part.discard();
    return fetchRest(options, part);
  }
  if (answer.statusCode !== 200 && answer.statusCode !== 206) {
    throw await answerError(answer.host, answer, options.secrets ?? []);
  }
  if (checksum === undefined && isWebPage(answer, options.url)) {
    answer.body.on("error", () => {}).destroy();
    throw webPage(answer.host);
  }
  const keep = answer.statusCode === 206 ? left.size : 0;
  const total = totalSize(answer, keep);
  const bytes = await writeBody(options, part, answer, { keep, identity, total });
  if (total !== undefined && bytes !== total) {
    throw new RemoteError("REMOTE_INCOMPLETE", `${answer.host} sent ${bytes} of ${total} bytes.`, {
      retryable: true,
    });
  }
  return { bytes, host: answer.host, resumed: keep > 0, checksum };
}

async function writeBody(
  options: DownloadOptions,
  part: PartFile,
  answer: DownloadAnswer,
  { keep, identity, total }: { keep: number; identity: string | undefined; total: number | undefined },
): Promise<number> {
  const { maxBytes = Number.POSITIVE_INFINITY } = options;
  const handle = await part.open(keep, identity);
  let position = keep;
  try {
    options.onProgress?.({ done: position, total });
    for await (const chunk of readBody(answer, options)) {
      if (position + chunk.length > maxBytes)
        throw new RemoteError(
          "REMOTE_UNEXPECTED_ANSWER",
          `${answer.host} sends more than ${maxBytes / 1e9} GB.`,
        );
      await writeAt(handle, chunk, position);
      position += chunk.length;
      options.onProgress?.({ done: position, total });
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return position;
}

async function writeAt(handle: FileHandle, chunk: Buffer, position: number): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    const { bytesWritten } = await handle.write(chunk, written, chunk.length - written, position + written);
    written += bytesWritten;
  }
}

/** The chunks of the body. A broken connection becomes a retryable error. */
async function* readBody(answer: DownloadAnswer, options: DownloadOptions): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of answer.body) yield chunk as Buffer;
  } catch (error) {
    options.signal?.throwIfAborted();
    const { message } = unreachable(answer.host, error, { secrets: options.secrets });
    throw new RemoteError("REMOTE_INCOMPLETE", `The transfer was interrupted: ${message}`, {
      retryable: true,
      cause: error,
    });
  }
}

async function verify(
  options: DownloadOptions,
  part: PartFile,
  { checksum: expected, resumed }: { checksum: Checksum | undefined; resumed: boolean },
): Promise<void> {
  if (expected === undefined) return;
  const actual = await checksumOfFile(part.path, expected.algorithm, options.signal);
  if (actual === expected.hex) return;
  await part.discard();
  throw new RemoteError(
    "REMOTE_CHECKSUM_MISMATCH",
    `The content of ${redactMessage(options.url, options.secrets ?? [])} does not have its ${expected.algorithm} checksum: ` +
      `expected ${expected.hex}, got ${actual}. The file was not kept.`,
    // The part of an earlier run may be damaged. A file that was fetched at once would be the same again.
    { retryable: resumed },
  );
}

/** Whether an answer is a sign-in or error page with status 200. For an address that ends in .html a page is expected. */
function isWebPage(answer: DownloadAnswer, url: string): boolean {
  const type = header(answer.headers, "content-type") ?? "";
  return (
    /^\s*(text\/html|application\/xhtml\+xml)\b/i.test(type) && !/\.x?html?$/i.test(new URL(url).pathname)
  );
}

function identityOf(answer: DownloadAnswer): string | undefined {
  const etag = answer.linked.etag ?? header(answer.headers, "etag");
  // The content of a weak tag may differ in its bytes, so two parts cannot be joined.
  return etag === undefined || etag.startsWith("W/") ? undefined : etag;
}

function continues(answer: DownloadAnswer, left: { identity: string | undefined; size: number }): boolean {
  const start = /^bytes (\d+)-/.exec(header(answer.headers, "content-range") ?? "")?.[1];
  return Number(start) === left.size && left.identity !== undefined && identityOf(answer) === left.identity;
}

/** Whether an earlier run received all bytes but did not rename the file. */
function alreadyComplete(
  answer: DownloadAnswer,
  left: { identity: string | undefined; size: number },
): boolean {
  const size = /^bytes \*\/(\d+)$/.exec(header(answer.headers, "content-range") ?? "")?.[1];
  const sameContent = left.identity !== undefined && identityOf(answer) === left.identity;
  return answer.statusCode === 416 && left.size > 0 && Number(size) === left.size && sameContent;
}

function totalSize(answer: DownloadAnswer, keep: number): number | undefined {
  if (answer.linked.size !== undefined) return answer.linked.size;
  const ranged = /\/(\d+)$/.exec(header(answer.headers, "content-range") ?? "")?.[1];
  if (answer.statusCode === 206 && ranged !== undefined) return Number(ranged);
  const length = header(answer.headers, "content-length");
  return length === undefined ? undefined : keep + Number(length);
}
