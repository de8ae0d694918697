/** Cookies by name, as sent with a request or set by a response. Attributes are not relevant between servers. */
export type Cookies = Readonly<Record<string, string>>;

export const NO_COOKIES: Cookies = Object.freeze({});

/** The `Cookie` header for a set of cookies; undefined for an empty set. */
export function cookieHeader(cookies: Cookies): string | undefined {
  let header = "";
  for (const name in cookies) header += `${header === "" ? "" : "; "}${name}=${cookies[name]}`;
  return header === "" ? undefined : header;
}

/** Reads a `Cookie` request header. */
export function parseCookieHeader(header: string | undefined): Cookies {
  if (!header) return NO_COOKIES;
  const cookies: Record<string, string> = Object.create(null);
  for (const part of header.split(";")) {
    const equals = part.indexOf("=");
    if (equals > 0) cookies[part.slice(0, equals).trim()] = unquote(part.slice(equals + 1).trim());
  }
  return cookies;
}

/** Reads the `Set-Cookie` headers of a response. */
export function parseSetCookies(headers: string | readonly string[] | undefined): Cookies {
  if (headers === undefined || headers.length === 0) return NO_COOKIES;
  const cookies: Record<string, string> = Object.create(null);
  for (const header of typeof headers === "string" ? [headers] : headers) {
    const semicolon = header.indexOf(";");
    const pair = semicolon < 0 ? header : header.slice(0, semicolon);
    const equals = pair.indexOf("=");
    if (equals > 0) cookies[pair.slice(0, equals).trim()] = unquote(pair.slice(equals + 1).trim());
  }
  return cookies;
}

/** Both sets of cookies; newer ones replace older ones. */
export function mergeCookies(older: Cookies, newer: Cookies): Cookies {
  return { ...older, ...newer };
}

function unquote(value: string): string {
  return value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
}
