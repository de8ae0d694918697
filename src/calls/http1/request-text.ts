import { ConnectionError } from "./connection-error.ts";
import { HEADER_NAME } from "./header-name.ts";

/** What the connection says itself, and what asks for answers that are not read here. */
const NOT_FOR_CALLERS = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const NO_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const NO_PATH = /[^!-~]/;

/** Header lines; what could be taken for more than one header is refused. */
export function headerLines(host: string, headers: Readonly<Record<string, string>>): string {
  let text = "";
  let named = false;
  let encoded = false;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    if (!HEADER_NAME.test(name)) throw refused(`'${name}' cannot be the name of a header`);
    if (NOT_FOR_CALLERS.has(name.toLowerCase())) throw refused(`the header '${name}' cannot be set`);
    if (NO_VALUE.test(value)) throw refused(`the header '${name}' has a character that headers cannot have`);
    if (name.toLowerCase() === "host") named = true;
    if (name.toLowerCase() === "accept-encoding") encoded = true;
    text += `${name}: ${value}\r\n`;
  }
  // Whoever is silent about it may be sent anything.
  const encoding = encoded ? "" : "accept-encoding: identity\r\n";
  return `${named ? "" : `host: ${host}\r\n`}connection: keep-alive\r\n${encoding}${text}`;
}

/** All that goes before the body. */
export function requestHead(method: string, path: string, headers: string, body: string | undefined): string {
  if (NO_PATH.test(path) || !path.startsWith("/")) throw refused(`'${path}' cannot be a path`);
  const length = body === undefined ? (method === "GET" ? undefined : 0) : Buffer.byteLength(body);
  const framing = length === undefined ? "" : `content-length: ${length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\n${headers}${framing}\r\n`;
}

function refused(problem: string): ConnectionError {
  return new ConnectionError("REQUEST_INVALID", problem);
}
