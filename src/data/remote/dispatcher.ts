import { type Dispatcher, EnvHttpProxyAgent } from "undici";
import { poolOfSafeSockets, reportsHeldBodies } from "../../base/transport/door.ts";

const CONNECT_TIMEOUT_MS = 20_000;
const HEADERS_TIMEOUT_MS = 60_000;
/** Longest pause within a body. */
const BODY_TIMEOUT_MS = 60_000;

let shared: Dispatcher | undefined;

/** The connection pool of all transfers. It uses HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
export function transferDispatcher(): Dispatcher {
  shared ??= new EnvHttpProxyAgent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: HEADERS_TIMEOUT_MS,
    bodyTimeout: BODY_TIMEOUT_MS,
    keepAliveTimeout: 1_000,
    factory: poolOfSafeSockets,
  }).compose(reportsHeldBodies);
  return shared;
}
