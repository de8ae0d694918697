import { promisify } from "node:util";
import { ConnectionError } from "./errors.ts";

const MAX_CODINGS = 2;

/** Decompresses a body that a server compressed without being asked to. Reads at most `maxBytes`. */
export async function decodeBody(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  const names = encoding
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
  if (names.length > MAX_CODINGS) throw unreadable(`it is encoded ${names.length} times`);
  let decoded = body;
  for (const name of names.reverse()) {
    const decode = await decoderOf(name, decoded);
    try {
      decoded = await decode(decoded, { maxOutputLength: maxBytes });
    } catch (error) {
      if ((error as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE")
        throw new ConnectionError("RESPONSE_TOO_LARGE", "the answer is larger than allowed");
      throw unreadable(`its content-encoding is ${name}, but it cannot be decoded`);
    }
  }
  return decoded;
}

type Decoder = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

/** zlib is loaded on the first compressed response. */
async function decoderOf(name: string, body: Buffer): Promise<Decoder> {
  const zlib = await import("node:zlib");
  switch (name) {
    case "gzip":
    case "x-gzip":
      return promisify(zlib.gunzip) as Decoder;
    case "br":
      return promisify(zlib.brotliDecompress) as Decoder;
    case "deflate":
      // Some servers omit the zlib header; the first byte shows whether it is present.
      return promisify(((body[0] ?? 0) & 0x0f) === 8 ? zlib.inflate : zlib.inflateRaw) as Decoder;
    default:
      throw unreadable(`it is encoded as ${name.slice(0, 40)}, which was not requested`);
  }
}

function unreadable(problem: string): ConnectionError {
  return new ConnectionError("RESPONSE_NOT_HTTP", `the answer cannot be read: ${problem}`);
}
