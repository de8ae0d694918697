/**
 * The test kit: runs a server without a port, scripts the servers it calls, and replaces model endpoints.
 *
 * @module
 */

export type { RewardContract } from "../cli/workloads/verifier-cases/cases.ts";
export {
  type CaseResult,
  exerciseVerifierCases,
  type VerifierCasesOptions,
} from "../cli/workloads/verifier-cases/exercise.ts";
export { createJudgedServer, type JudgedServer } from "../servers/hosting/judged-server.ts";
export {
  functionCallItem,
  functionCallOutputItem,
  messageItem,
  modelResponse,
  verifyBody,
} from "../servers/hosting/response-items.ts";
export {
  createTestServer,
  Jar,
  type ScriptedServer,
  type TestReply,
  TestServer,
  type TestServerOptions,
} from "../servers/hosting/test-server.ts";
export { AnthropicDouble, type AnthropicDoubleOptions } from "./anthropic-double.ts";
export {
  type EndpointFault,
  type EndpointHandler,
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
export { ToyTokenizer } from "./toy-tokenizer.ts";
export { type Drift, type VllmCall, VllmDouble, type VllmDoubleOptions } from "./vllm-double.ts";
