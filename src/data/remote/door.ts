/** Transfers to and from services. */

export { type DownloadResult, downloadFile } from "./download-file.ts";
export { RemoteError } from "./errors.ts";
export { type HubAccess, hubUrl } from "./hub-access.ts";
export type { RetryPolicy } from "./retry.ts";
export { callJson, putFile, type RemoteService } from "./service.ts";
