import { GymError } from "../errors.ts";
import { isSecretHeader } from "../secrets.ts";

/** A parsed base URL. */
export interface EndpointUrl {
  /** `https://api.example.com` */
  origin: string;
  /** `api.example.com`, with the port if given; used in messages. */
  host: string;
  /** `/v1`, without a slash at the end. */
  basePath: string;
  /** Origin and base path. Identifies the endpoint. */
  text: string;
}

/** Paths that users often copy with a base URL, with or without a following `/v1`. */
const ENDPOINT_PATH = /(\/chat\/completions|(?<=\/v1)\/(?:completions|responses|messages))\/*(?:\/v1)?\/*$/;

/** Parses a configured base URL. Throws an error that names the key if no request can be sent to it. */
export function parseEndpointUrl(text: string, key: string): EndpointUrl {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    throw badUrl(key, "is no URL; write it like https://api.example.com/v1");
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw badUrl(key, `begins with '${url.protocol}'; http: or https: is needed`);
  }
  if (url.username !== "" || url.password !== "") {
    throw badUrl(key, "carries a user or password; put the credentials into the API key or the headers");
  }
  if (url.search !== "" || url.hash !== "") {
    throw badUrl(key, "has a query or fragment; put the query into `default_query`");
  }
  const endpoint = ENDPOINT_PATH.exec(url.pathname)?.[1];
  if (endpoint !== undefined) {
    throw badUrl(key, `ends in '${endpoint}', which is added to it; write only the part before`);
  }
  const basePath = url.pathname.replace(/\/+$/, "");
  return { origin: url.origin, host: url.host, basePath, text: url.origin + basePath };
}

// The message omits the value, because people paste keys into URLs.
function badUrl(key: string, problem: string): GymError {
  return new GymError("PROVIDER_URL", `${key} ${problem}.`);
}

/** Path and query of a request below the base. */
export function requestPath(
  url: EndpointUrl,
  path: string,
  query: Readonly<Record<string, string>> = {},
): string {
  const names = Object.keys(query);
  if (names.length === 0) return url.basePath + path;
  return `${url.basePath}${path}?${new URLSearchParams(query)}`;
}

/** The values of headers that hold secrets. */
export function secretHeaders(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => (isSecretHeader(name) ? [value] : []));
}

/** Headers without secrets, sorted by name. */
export function openHeaders(headers: Readonly<Record<string, string>>): [name: string, value: string][] {
  return Object.entries(headers)
    .filter(([name]) => !isSecretHeader(name))
    .sort(([left], [right]) => (left < right ? -1 : 1));
}

/** Header names in the form in which they are compared. */
export function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
