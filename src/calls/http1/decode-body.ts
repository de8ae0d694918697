import { createRequire } from "node:module";
import { ConnectionError, tooLarge } from "./connection-error.ts";

// Loaded when somebody sends such an answer: we do not ask for any.
const load = createRequire(import.meta.url);

/** What a body says that was compressed on its way, although nobody asked for it; no more of it than allowed. */
export function decodeBody(body: Buffer, encoding: string, maxBytes: number): Buffer {
  const zlib = load("node:zlib") as typeof import("node:zlib");
  const limit = { maxOutputLength: maxBytes };
  const decoders: Record<string, (bytes: Buffer) => Buffer> = {
    gzip: (bytes) => zlib.gunzipSync(bytes, limit),
    "x-gzip": (bytes) => zlib.gunzipSync(bytes, limit),
    br: (bytes) => zlib.brotliDecompressSync(bytes, limit),
    // Some leave out the frame that belongs to it; its first byte tells.
    deflate: (bytes) =>
      ((bytes[0] ?? 0) & 0x0f) === 8 ? zlib.inflateSync(bytes, limit) : zlib.inflateRawSync(bytes, limit),
  };
  const names = encoding
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
  let decoded = body;
  for (const name of names.reverse()) {
    const decode = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
    if (!decode) throw unreadable(`it is encoded as ${name.slice(0, 40)}, which nobody asked for`);
    try {
      decoded = decode(decoded);
    } catch (error) {
      if ((error as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge();
      throw unreadable(`it says that it is encoded as ${name}, and is not`);
    }
  }
  return decoded;
}

function unreadable(problem: string): ConnectionError {
  return new ConnectionError("RESPONSE_NOT_HTTP", `the answer cannot be read: ${problem}`);
}
