/** What servers recorded of model calls. */

export { clearModelCalls, type ModelCallLine, modelCallFiles } from "./model-call-log.ts";
export {
  capturesTokens,
  makeCaptureDirectory,
  modelCallDirectory,
  type TokenCaptureSettings,
  tokenCaptureSettings,
} from "./settings.ts";
export { TokenFileStore } from "./token-file-store.ts";
export type { TokenCaptureRecord } from "./token-record.ts";
export {
  isTokenSource,
  loadTokenSink,
  type TokenSink,
  type TokenSnapshot,
  type TokenSource,
} from "./token-sink.ts";
export { taskIdOf } from "./trajectory-recorder.ts";
