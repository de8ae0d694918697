/**
 * The test kit: runs a server without a port, scripts the servers it calls, and replaces model endpoints.
 *
 * @module
 */

export {
  type CaseResult,
  exerciseVerifierCases,
  type RewardContract,
  type VerifierCasesOptions,
} from "../cli/door.ts";
export {
  createJudgedServer,
  createTestServer,
  Jar,
  type JudgedServer,
  type ScriptedServer,
  TestServer,
  type TestServerOptions,
} from "../servers/hosting/door.ts";
export {
  functionCallItem,
  functionCallOutputItem,
  messageItem,
  modelResponse,
  verifyBody,
} from "../servers/hosting/light-door.ts";
export { AnthropicDouble, type AnthropicDoubleOptions } from "./anthropic-double.ts";
export {
  type EndpointFault,
  type EndpointOptions,
  type EndpointReply,
  type EndpointRequest,
  EndpointServer,
  faults,
} from "./endpoint-server.ts";
export { fakeVllm } from "./fake-vllm.ts";
export { growthOf } from "./growth.ts";
export { type MockAnswer, MockModelEndpoint, type MockModelOptions } from "./mock-model-endpoint.ts";
export { type PreparedRows, type RunPrepareOptions, runPrepare } from "./run-prepare.ts";
export { skipWithoutBubblewrap } from "./skip-without-bubblewrap.ts";
export { VllmDouble, type VllmDoubleOptions } from "./vllm-double.ts";
