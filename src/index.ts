/**
 * What authors of environments import. Building blocks of agents are in `nemo-gym/agents`, those of model servers in
 * `nemo-gym/models`, those of verifiers in `nemo-gym/verify`.
 *
 * @module
 */

export { errorMessage, GymError } from "./base/errors.ts";
export type { JsonObject } from "./base/python/json/json-object.ts";
export { HttpError, JudgeError } from "./base/server-errors.ts";
export { Deadline, sleep } from "./base/transport/deadline.ts";
export type { PrepareContext } from "./data/benchmarks/prepare-context.ts";
export { plainText } from "./servers/calls/server-call.ts";
export type { ServerContext } from "./servers/calls/server-client.ts";
export {
  type CallOptions,
  callServer,
  type ServerClient,
  type ServerReply,
} from "./servers/calls/server-client.ts";
export { loopAgentConfig } from "./servers/definitions/agent-config.ts";
export {
  type AgentDefinition,
  type AgentOptions,
  type AgentReply,
  defineAgent,
  type RolloutScope,
} from "./servers/definitions/define-agent.ts";
export {
  defineEnvironmentServer,
  type EnvironmentServerDefinition,
  type EnvironmentServerOptions,
} from "./servers/definitions/define-environment.ts";
export {
  defineModel,
  type ModelCallScope,
  type ModelDefinition,
  type ModelOptions,
  type ModelPostScope,
} from "./servers/definitions/define-model.ts";
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
} from "./servers/definitions/define-resources.ts";
export { perServer } from "./servers/definitions/definitions.ts";
export { createJudge, type Judge, judgeConfig } from "./servers/definitions/judge/judge.ts";
export {
  type ChatPrompt,
  compilePrompt,
  loadPromptText,
  loadPromptYaml,
  loadYaml,
  type PromptTemplate,
  promptFrom,
} from "./servers/definitions/prompt-template.ts";
export { allAssistantText } from "./servers/definitions/response-text.ts";
export { toolOutput } from "./servers/definitions/tool-calls.ts";
export { type ToolLoopArgs, type ToolLoopHooks, toolLoop } from "./servers/definitions/tool-loop.ts";
