import { notHttp } from "./connection-error.ts";
import { HEADER_NAME } from "./header-name.ts";

/** By lower-case name; a header that came more than once has all its values. */
export type ResponseHeaders = Record<string, string | string[] | undefined>;

export interface ResponseHead {
  status: number;
  headers: ResponseHeaders;
  /** How the end of the body is told. */
  framing: "length" | "chunked" | "until-close";
  contentLength: number;
  keepsAlive: boolean;
  /** Milliseconds for which the server keeps an idle connection, where it says so. */
  keepAliveMs: number | undefined;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;
const LENGTH = /^\d{1,15}$/;
const WITHOUT_BODY = new Set([204, 304]);

/** Reads the lines before a body. What leaves the length of the body in doubt is refused. */
export function parseHead(text: string): ResponseHead {
  const firstEnd = text.indexOf("\n");
  const first = text.slice(0, firstEnd).trimEnd();
  const [, minor, status] = STATUS_LINE.exec(first) ?? [];
  if (minor === undefined) throw notHttp(`it begins with '${first.slice(0, 40)}'`);
  const headers = readHeaders(text, firstEnd + 1);
  const head: ResponseHead = {
    status: Number(status),
    headers,
    framing: "length",
    contentLength: 0,
    keepsAlive: keepsAlive(minor, headers["connection"]),
    keepAliveMs: keepAliveMs(headers["keep-alive"]),
  };
  if (head.status === 101) throw notHttp("it changes the protocol, which nobody asked for");
  if (head.status < 200 || WITHOUT_BODY.has(head.status)) return head;
  const coding = headers["transfer-encoding"];
  const length = headers["content-length"];
  if (coding !== undefined) {
    if (listOf(coding).join() !== "chunked") throw notHttp(`transfer-encoding ${coding} is not known`);
    head.framing = "chunked";
    // One of the two is wrong: whoever stands between may have believed the other.
    if (length !== undefined) head.keepsAlive = false;
  } else if (length !== undefined) head.contentLength = lengthOf(length);
  else head.framing = "until-close";
  return head;
}

function readHeaders(text: string, from: number): ResponseHeaders {
  const headers = Object.create(null) as ResponseHeaders;
  let last = "";
  for (let start = from; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(start, end).trimEnd();
    start = end + 1;
    if (line === "") break;
    const goesOn = line.startsWith(" ") || line.startsWith("\t");
    if (goesOn && last !== "") {
      headers[last] = `${headers[last]} ${line.trim()}`;
      continue;
    }
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    if (colon < 1 || !HEADER_NAME.test(name)) throw notHttp(`'${line.slice(0, 40)}' is no header`);
    last = name.toLowerCase();
    const value = line.slice(colon + 1).trim();
    const earlier = headers[last];
    if (earlier === undefined) headers[last] = value;
    else headers[last] = Array.isArray(earlier) ? [...earlier, value] : [earlier, value];
  }
  return headers;
}

function lengthOf(value: string | string[]): number {
  const lengths = typeof value === "string" && LENGTH.test(value) ? [value] : [...new Set(listOf(value))];
  const [length = ""] = lengths;
  if (lengths.length !== 1 || !LENGTH.test(length)) throw notHttp(`content-length is '${value}'`);
  return Number(length);
}

function listOf(value: string | string[]): string[] {
  return String(value)
    .split(",")
    .map((part) => part.trim().toLowerCase());
}

function keepsAlive(minorVersion: string, connection: string | string[] | undefined): boolean {
  const wishes = connection === undefined ? [] : listOf(connection);
  if (wishes.includes("close")) return false;
  return minorVersion === "1" || wishes.includes("keep-alive");
}

function keepAliveMs(value: string | string[] | undefined): number | undefined {
  if (value === undefined) return undefined;
  const [, seconds] = /timeout=(\d{1,6})/i.exec(String(value)) ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
