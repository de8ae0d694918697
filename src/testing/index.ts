export type { RewardContract } from "../verifier-fixtures/contract.ts";
export type { CaseResult } from "../verifier-fixtures/exercise.ts";
export {
  exerciseVerifierCases,
  type VerifierCasesOptions,
} from "../verifier-fixtures/exercise-definition.ts";
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
export { type MockAnswer, MockModelEndpoint, type MockModelOptions } from "./mock-model-endpoint.ts";
export { functionCallItem, functionCallOutputItem, messageItem, verifyBody } from "./response-items.ts";
export { type PreparedRows, type RunPrepareOptions, runPrepare } from "./run-prepare.ts";
export {
  createTestServer,
  Jar,
  type ScriptedServer,
  type TestReply,
  TestServer,
  type TestServerOptions,
} from "./test-server.ts";
export { ToyTokenizer } from "./toy-tokenizer.ts";
export { type Drift, type VllmCall, VllmDouble, type VllmDoubleOptions } from "./vllm-double.ts";
