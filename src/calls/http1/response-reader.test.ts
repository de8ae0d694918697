import { describe, expect, it } from "vitest";
import { ResponseReader } from "./response-reader.ts";

const LIMIT = 1_000;

/** Reads an answer that comes in pieces of these sizes (the last for all the rest). */
function read(text: string, sizes: readonly number[] = [], { closed = false } = {}) {
  const reader = new ResponseReader(LIMIT);
  const bytes = Buffer.from(text);
  let complete = false;
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    if (at >= bytes.length || complete) break;
    complete = reader.push(bytes.subarray(at, at + size));
    at += size;
  }
  if (!complete && closed) complete = reader.end();
  return { complete, reader, text: complete ? reader.text : undefined };
}

const ANSWERS: [name: string, answer: string, body: string, keepsAlive: boolean][] = [
  ["with a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", true],
  [
    "in chunks",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
    "hello",
    true,
  ],
  [
    "with trailers",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n",
    "hello",
    true,
  ],
  [
    "after a provisional one",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi",
    "hi",
    true,
  ],
  ["without carriage returns", "HTTP/1.1 200 OK\ncontent-length: 4\n\na\r\n\r", "a\r\n\r", true],
  ["without a reason", "HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nhi", "hi", true],
  ["without a body", "HTTP/1.1 204 No Content\r\n\r\n", "", true],
  [
    "with characters of several bytes",
    "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n€ 🚢".replace("7", "8"),
    "€ 🚢",
    true,
  ],
  ["that closes", "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi", "hi", false],
  ["of an old server", "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi", "hi", false],
  [
    "of an old server that keeps",
    "HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 2\r\n\r\nhi",
    "hi",
    true,
  ],
  [
    "with both framings",
    "HTTP/1.1 200 OK\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "",
    false,
  ],
  [
    "with its length twice",
    "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nhi",
    "hi",
    true,
  ],
];

describe("an answer", () => {
  it.each(ANSWERS)("%s is the same wherever it is cut", (_, answer, body, keepsAlive) => {
    const length = Buffer.byteLength(answer);
    const cuts = [[], Array(length).fill(1), ...Array.from({ length }, (__, at) => [at + 1])];
    for (const sizes of cuts) {
      const { complete, reader, text } = read(answer, sizes);
      expect({ sizes, complete, text, keepsAlive: reader.keepsAlive }).toEqual({
        sizes,
        complete: true,
        text: body,
        keepsAlive,
      });
    }
  });

  it("that says nothing of its length ends with its connection", () => {
    const answer = "HTTP/1.1 200 OK\r\n\r\nhello";
    expect(read(answer).complete).toBe(false);
    expect(read(answer, [3, 20], { closed: true })).toMatchObject({ complete: true, text: "hello" });
    expect(read("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello", [], { closed: true }).complete).toBe(
      false,
    );
  });

  it("tells headers by lower-case names, all values of those that come twice", () => {
    const { reader } = read(
      "HTTP/1.1 429 Slow Down\r\nRetry-After: 3\r\nSet-Cookie: a=1\r\nset-cookie:b=2\r\nX-Long: one\r\n  two\r\n" +
        "__proto__: x\r\nKeep-Alive: timeout=5, max=9\r\ncontent-length: 0\r\n\r\n",
    );
    expect(reader.head).toMatchObject({ status: 429, keepAliveMs: 5_000 });
    expect({ ...reader.head?.headers }).toMatchObject({
      "retry-after": "3",
      "set-cookie": ["a=1", "b=2"],
      "x-long": "one two",
    });
  });

  it("cannot be used again when more comes than was asked for", () => {
    const { complete, reader } = read("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\n");
    expect(complete).toBe(true);
    expect(reader.keepsAlive).toBe(false);
  });

  it.each([
    ["another protocol", "SSH-2.0-OpenSSH\r\n"],
    ["a TLS alert", "\x15\x03\x01\x00\x02\x02\x46"],
    ["another version", "HTTP/2 200 OK\r\n\r\n"],
    ["no status", "HTTP/1.1 OK\r\n\r\n"],
    ["a line that is no header", "HTTP/1.1 200 OK\r\nnothing here\r\n\r\n"],
    ["a name with a blank", "HTTP/1.1 200 OK\r\ncontent-length : 2\r\n\r\nhi"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nhi"],
    ["a length that is none", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n"],
    ["an unknown coding", "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n"],
    ["another protocol to go on with", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
    ["a chunk without size", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n"],
    ["a chunk longer than it says", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhello\r\n"],
    ["headers without end", `HTTP/1.1 200 OK\r\n${"x-y: z\r\n".repeat(20_000)}`],
    [
      "a chunk size without end",
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;${"x".repeat(20_000)}`,
    ],
  ])("is refused when it is %s", (_, answer) => {
    expect(() => read(answer)).toThrow(expect.objectContaining({ code: "RESPONSE_NOT_HTTP" }));
    expect(() => read(answer, Array(answer.length).fill(1))).toThrow(
      expect.objectContaining({ code: "RESPONSE_NOT_HTTP" }),
    );
  });

  it.each([
    ["by its length", `HTTP/1.1 200 OK\r\ncontent-length: ${LIMIT + 1}\r\n\r\n`],
    ["by its chunks", `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfff\r\n${"x".repeat(LIMIT + 1)}`],
    ["by what comes", `HTTP/1.1 200 OK\r\n\r\n${"x".repeat(LIMIT + 1)}`],
  ])("is refused when it is too large %s", (_, answer) => {
    expect(() => read(answer)).toThrow(expect.objectContaining({ code: "RESPONSE_TOO_LARGE" }));
  });
});
