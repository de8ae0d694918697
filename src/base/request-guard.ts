import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import os from "node:os";

/**
 * Prevents web pages from using a server through the browser of its user. `Host` reveals a page whose name resolves to this
 * machine (DNS rebinding). `Origin`, `Sec-Fetch-Site` or a content type that browsers send without a preflight request reveal
 * a page of another site. Programs send no `Origin`.
 */
export interface GuardOptions {
  /** The address the server listens on. */
  host: string;
  /** Further host names of the server, for example behind a proxy. */
  allowedHosts?: readonly string[];
  /** A sentence that tells the user how to allow a host name. */
  allowHint: (name: string) => string;
}

export interface RequestRejection {
  status: 403 | 415;
  reason: string;
}

/** Whether an address is reachable only from this machine. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, "");
  return (
    name === "localhost" || name.endsWith(".localhost") || name === "::1" || /^127(\.\d+){3}$/.test(name)
  );
}

const OTHER_SITE: RequestRejection = { status: 403, reason: "The request comes from another site." };

/** Returns why a request is rejected by its `Host` or `Origin`. Ports are not compared, because tunnels change them. */
export function requestRejection(
  headers: IncomingHttpHeaders,
  options: GuardOptions,
): RequestRejection | undefined {
  const name = hostName(headers.host);
  if (name === undefined) return { status: 403, reason: "The request has no valid Host header." };
  if (!isKnown(name, options)) {
    return { status: 403, reason: `'${name}' is not a name of this server. ${options.allowHint(name)}` };
  }
  const { origin } = headers;
  if (origin === undefined) return undefined;
  const from = originName(origin);
  const isOwn = from !== undefined && (from === name || isAllowed(from, options));
  return isOwn ? undefined : OTHER_SITE;
}

/** Content types that browsers send to other sites without a preflight request. */
const PAGE_CONTENT_TYPE = /^\s*(?:text\/plain|application\/x-www-form-urlencoded|multipart\/form-data)\b/i;

/** The same for a server that accepts JSON: also rejects cross-site requests without `Origin`, and content types of forms. */
export function jsonRejectionOf(
  headers: IncomingHttpHeaders,
  options: GuardOptions,
): RequestRejection | undefined {
  const rejection = requestRejection(headers, options);
  if (rejection) return rejection;
  if (headers["sec-fetch-site"] === "cross-site" && headers["sec-fetch-mode"] !== "navigate")
    return OTHER_SITE;
  const type = headers["content-type"];
  if (type !== undefined && PAGE_CONTENT_TYPE.test(type)) {
    return { status: 415, reason: `The content type is '${type.slice(0, 100)}'. Send application/json.` };
  }
  return undefined;
}

function isKnown(name: string, options: GuardOptions): boolean {
  const { host } = options;
  if (isLoopback(name) || name === host.toLowerCase() || isAllowed(name, options)) return true;
  if (isLoopback(host)) return false;
  // DNS rebinding needs a name, so addresses are safe.
  return isIP(name) !== 0 || name === os.hostname().toLowerCase();
}

function isAllowed(name: string, { allowedHosts = [] }: GuardOptions): boolean {
  return allowedHosts.some((allowed) => allowed.toLowerCase() === name);
}

function hostName(header: string | undefined): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[^:/?#@\s]+)(?::\d{1,5})?$/i.exec(header ?? "");
  return match?.[1]?.replace(/^\[|\]$/g, "").toLowerCase();
}

function originName(origin: string): string | undefined {
  return hostName(/^https?:\/\/(.+)$/i.exec(origin)?.[1]);
}
