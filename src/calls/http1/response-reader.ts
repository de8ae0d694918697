import { notHttp, tooLarge } from "./connection-error.ts";
import { decodeBody } from "./decode-body.ts";
import { parseHead, type ResponseHead } from "./response-head.ts";

/** More than any server says before its answer. */
const MAX_HEAD_BYTES = 64 * 1024;
/** A chunk's size with its extensions, or one trailer. */
const MAX_LINE_BYTES = 8 * 1024;
const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

type State = "head" | "sized" | "until-close" | "chunk-size" | "chunk" | "chunk-end" | "trailers" | "done";

/** Puts one answer together out of the pieces a socket brings, wherever they are cut. */
export class ResponseReader {
  head: ResponseHead | undefined;
  readonly #maxBytes: number;
  readonly #body: Buffer[] = [];
  #bodyBytes = 0;
  #asideBytes = 0;
  /** Bytes of the body, or of the chunk, that are still to come. */
  #left = 0;
  #state: State = "head";
  /** What cannot be read before more has come. */
  #rest: Buffer = NOTHING;
  #hasSurplus = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether the connection can be used for another exchange. */
  get keepsAlive(): boolean {
    return this.head?.keepsAlive === true && this.head.framing !== "until-close" && !this.#hasSurplus;
  }

  /** Whether anything of an answer has come. */
  get hasBegun(): boolean {
    return this.#state !== "head" || this.#rest.length > 0 || this.#asideBytes > 0;
  }

  /** The body; one that is encoded in an unknown way, or too large, throws. */
  get text(): string {
    const [only] = this.#body;
    const body = only && this.#body.length === 1 ? only : Buffer.concat(this.#body);
    const encoding = this.head?.headers["content-encoding"];
    if (encoding === undefined || body.length === 0) return body.toString("utf8");
    return decodeBody(body, String(encoding), this.#maxBytes).toString("utf8");
  }

  /** Takes the next piece; true when the answer is complete. What is no HTTP, or too large, throws. */
  push(piece: Buffer): boolean {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    this.#rest = NOTHING;
    let at = 0;
    while (this.#state !== "done") {
      const next = this.#step(bytes, at);
      if (next === undefined) {
        this.#rest = bytes.subarray(at);
        return false;
      }
      at = next;
    }
    this.#hasSurplus = at < bytes.length;
    return true;
  }

  /** The peer sends no more; true when that is how the answer ends. */
  end(): boolean {
    return this.#state === "until-close";
  }

  /** Reads on from `at`; where to go on from, or undefined when more has to come. */
  #step(bytes: Buffer, at: number): number | undefined {
    switch (this.#state) {
      case "head":
        return this.#readHead(bytes, at);
      case "sized":
      case "chunk":
        return this.#take(bytes, at, Math.min(bytes.length, at + this.#left));
      case "until-close":
        return this.#take(bytes, at, bytes.length);
      default:
        return this.#readLine(bytes, at);
    }
  }

  #readHead(bytes: Buffer, at: number): number | undefined {
    const end = endOfHead(bytes, at);
    if (end === undefined) {
      if (bytes.length - at > MAX_HEAD_BYTES)
        throw notHttp(`its headers are longer than ${MAX_HEAD_BYTES / 1024} kB`);
      if (!"HTTP/1.".startsWith(bytes.toString("latin1", at, at + 7)))
        throw notHttp("it does not begin as one");
      return undefined;
    }
    const head = parseHead(bytes.toString("latin1", at, end));
    // A provisional answer: the one that counts follows.
    if (head.status < 200) {
      this.#countAside(end - at);
      return end;
    }
    this.head = head;
    this.#left = head.contentLength;
    if (this.#left > this.#maxBytes) throw tooLarge();
    if (head.framing === "chunked") this.#state = "chunk-size";
    else if (head.framing === "until-close") this.#state = "until-close";
    else this.#state = this.#left > 0 ? "sized" : "done";
    return end;
  }

  #take(bytes: Buffer, from: number, to: number): number | undefined {
    if (from === to) return undefined;
    this.#bodyBytes += to - from;
    if (this.#bodyBytes > this.#maxBytes) throw tooLarge();
    this.#body.push(bytes.subarray(from, to));
    this.#left -= to - from;
    if (this.#left === 0 && this.#state !== "until-close")
      this.#state = this.#state === "chunk" ? "chunk-end" : "done";
    return to;
  }

  /** What is read and does not matter, provisional answers and trailers, must come to an end too. */
  #countAside(bytes: number): void {
    this.#asideBytes += bytes;
    if (this.#asideBytes > MAX_HEAD_BYTES)
      throw notHttp(`it has more than ${MAX_HEAD_BYTES / 1024} kB beside the answer itself`);
  }

  /** The lines around chunks. */
  #readLine(bytes: Buffer, at: number): number | undefined {
    const newline = bytes.indexOf(NEWLINE, at);
    if ((newline < 0 ? bytes.length : newline) - at > MAX_LINE_BYTES)
      throw notHttp(`a line before a chunk is longer than ${MAX_LINE_BYTES / 1024} kB`);
    if (newline < 0) return undefined;
    const line = bytes.toString("latin1", at, newline).trimEnd();
    if (this.#state === "chunk-size") {
      const size = /^[0-9a-f]{1,12}(?=$|[\s;])/i.exec(line)?.[0];
      if (size === undefined) throw notHttp(`'${line.slice(0, 40)}' is no size of a chunk`);
      this.#left = Number.parseInt(size, 16);
      this.#state = this.#left === 0 ? "trailers" : "chunk";
    } else if (this.#state === "chunk-end") {
      if (line !== "") throw notHttp("a chunk is longer than it says");
      this.#state = "chunk-size";
    } else if (line === "") this.#state = "done";
    else this.#countAside(line.length);
    return newline + 1;
  }
}

function endOfHead(bytes: Buffer, at: number): number | undefined {
  const ordinary = bytes.indexOf("\r\n\r\n", at, "latin1");
  // Some servers end their lines without the carriage return; behind the head it means nothing.
  const head = ordinary < 0 ? bytes : bytes.subarray(0, ordinary);
  const bare = head.indexOf("\n\n", at, "latin1");
  if (bare >= 0) return bare + 2;
  return ordinary < 0 ? undefined : ordinary + 4;
}
