import { isIP } from "node:net";
import os from "node:os";

/** Headers of every answer: nothing from elsewhere is loaded, nobody frames the page, and no other site reads it. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

export interface GuardOptions {
  /** The address the server listens on. */
  host: string;
  /** Further host names under which the viewer may be reached, as behind a proxy. */
  allowedHosts?: readonly string[];
}

/** Whether an address is only reachable from this machine. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, "");
  return (
    name === "localhost" || name.endsWith(".localhost") || name === "::1" || /^127(\.\d+){3}$/.test(name)
  );
}

/**
 * Says why a request is refused. A site that points its own name at this machine (DNS rebinding) shows in `Host`; one that calls
 * across shows in `Sec-Fetch-Site` or `Origin`. The port is not compared: tunnels change it.
 */
export function refusalOf(
  headers: { host?: string; origin?: string; "sec-fetch-site"?: string },
  options: GuardOptions,
): string | undefined {
  const name = hostName(headers.host);
  if (name === undefined) return "The request names no host.";
  if (!isKnown(name, options)) {
    return `'${name}' is not a name of this viewer. Use localhost, or start it with --allow-host ${name}.`;
  }
  if (headers.origin !== undefined && originName(headers.origin) !== name)
    return "The request comes from another site.";
  return undefined;
}

function isKnown(name: string, { host, allowedHosts = [] }: GuardOptions): boolean {
  if (isLoopback(name) || name === host.toLowerCase()) return true;
  if (allowedHosts.some((allowed) => allowed.toLowerCase() === name)) return true;
  if (isLoopback(host)) return false;
  // Nobody can point an address at another machine, only a name.
  return isIP(name) !== 0 || name === os.hostname().toLowerCase();
}

function hostName(header: string | undefined): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[^:/?#@\s]+)(?::\d{1,5})?$/i.exec(header ?? "");
  return match?.[1]?.replace(/^\[|\]$/g, "").toLowerCase();
}

function originName(origin: string): string | undefined {
  return hostName(/^https?:\/\/(.+)$/i.exec(origin)?.[1]);
}
