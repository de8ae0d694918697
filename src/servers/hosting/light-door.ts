/** Finding and describing servers, without what runs them. */

export { offeredTools } from "./apps/check-rows.ts";
export { ConfigMisfit, readConfig } from "./apps/read-config.ts";
export { rowSchemaOf } from "./apps/wire-schemas.ts";
export { HOSTING, misspeltHostKeys, readHostSettings } from "./host-settings.ts";
export { loadDefinition } from "./load-definition.ts";
export { compiledTwin, locateServer, type ServerCode, ServerCodeError } from "./locate-server.ts";
export { HEAD_TOKEN_HEADER, HEAD_TOKEN_VARIABLE, type InstanceRecord } from "./processes/head-server.ts";
export { installNodeDependencies, pythonEnvironment } from "./processes/install-dependencies.ts";
export { listeningProcess } from "./processes/ports.ts";
export { memoryMb, processTree } from "./processes/process-tree.ts";
export { waitingText } from "./processes/start-watch.ts";
export {
  functionCallItem,
  functionCallOutputItem,
  messageItem,
  modelResponse,
  verifyBody,
} from "./response-items.ts";
