/**
 * What authors of environments import. Building blocks of agents are in `nemo-gym/agents`, those of model servers in
 * `nemo-gym/models`, those of verifiers in `nemo-gym/verify`.
 *
 * @module
 */
export { Deadline, sleep } from "./calls/deadline.ts";
export type { ServerContext } from "./calls/server-client.ts";
export { type CallOptions, callServer, type ServerClient, type ServerReply } from "./calls/server-client.ts";
export type { PrepareContext } from "./datasets/benchmarks/prepare-context.ts";
export { loopAgentConfig } from "./definitions/agent-config.ts";
export {
  type AgentDefinition,
  type AgentOptions,
  type AgentReply,
  defineAgent,
  type RolloutScope,
} from "./definitions/define-agent.ts";
export {
  defineModel,
  type ModelCallScope,
  type ModelDefinition,
  type ModelOptions,
  type ModelPostScope,
} from "./definitions/define-model.ts";
export {
  defineGymnasiumServer,
  defineResourcesServer,
  type GymnasiumServerDefinition,
  type GymnasiumServerOptions,
  type MetricsHooks,
  type ResourcesServerDefinition,
  type ResourcesServerOptions,
  type StepReply,
  type ToolDefinition,
  type VerifyArgs,
  type VerifyResult,
} from "./definitions/define-resources.ts";
export { perServer } from "./definitions/definitions.ts";
export { HttpError, JudgeError } from "./definitions/errors.ts";
export { createJudge, type Judge, judgeConfig } from "./definitions/judge/judge.ts";
export {
  type ChatPrompt,
  compilePrompt,
  loadPromptText,
  loadPromptYaml,
  loadYaml,
  type PromptTemplate,
  promptFrom,
} from "./definitions/prompt-template.ts";
export { allAssistantText } from "./definitions/response-text.ts";
export { toolOutput } from "./definitions/tool-calls.ts";
export { type ToolLoopArgs, type ToolLoopHooks, toolLoop } from "./definitions/tool-loop.ts";
export { errorMessage, GymError } from "./errors.ts";
export type { JsonObject } from "./python/json/json-object.ts";
