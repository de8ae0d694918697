/** The HTTP client. It loads undici; clocks and semaphores are at the light door. */

export { transportFailure } from "./errors.ts";
export { poolOfSafeSockets, reportsHeldBodies } from "./held-bodies.ts";
export {
  type HttpAnswer,
  HttpClient,
  type HttpRequest,
  RequestTimeout,
  type ResponseHeaders,
} from "./http-client.ts";
export { LARGE_BODY_BYTES, largeBodies } from "./large-bodies.ts";
