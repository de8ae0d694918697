/** Calls to services, without the library of the hub. */

export { RemoteError } from "./errors.ts";
export type { RetryPolicy } from "./retry.ts";
export { callJson, putFile, type RemoteService } from "./service.ts";
