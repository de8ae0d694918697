/** Calls between servers. */

export { failureOf, isServerCallError, ServerCallError } from "./errors.ts";
export { idInRow, rolloutIdOf } from "./rollout-id.ts";
export { type LocalServer, neverReached, RunClient } from "./run-client.ts";
export { Reply } from "./server-call.ts";
export {
  callServer,
  type RequiredCall,
  type ServerClient,
  type ServerReply,
  type StageListener,
} from "./server-client.ts";
export { requestOnce } from "./server-http.ts";
