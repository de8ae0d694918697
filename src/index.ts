/**
 * What authors of environments, agents and model servers import.
 *
 * @module
 */
export { type Cookies, cookieHeader, mergeCookies, parseSetCookies } from "./calls/cookies.ts";
export { Deadline, sleep, untilAborted, withDeadline } from "./calls/deadline.ts";
export { nextDelay } from "./calls/retry.ts";
export { Semaphore } from "./calls/semaphore.ts";
export { type CallOptions, callServer, type ServerClient, type ServerReply } from "./calls/server-client.ts";
export type { ServerContext } from "./calls/server-context.ts";
export { isObserved } from "./capture/settings.ts";
export type { TokenCaptureRecord } from "./capture/token-record.ts";
export type { TokenSink, TokenSnapshot, TokenSource } from "./capture/token-sink.ts";
export { TrajectoryRecorder } from "./capture/trajectory-recorder.ts";
export type { PrepareContext } from "./datasets/benchmarks/prepare-context.ts";
export {
  agentConfig,
  loopAgentConfig,
  maxEmptyTurns,
  modelServerRef,
  resourcesServerRef,
} from "./definitions/agent-config.ts";
export { callLimits } from "./definitions/call-limits.ts";
export { callModel, inputItems } from "./definitions/call-model.ts";
export { type AgentReply, defineAgent, type RolloutScope } from "./definitions/define-agent.ts";
export { defineModel, type ModelCallScope } from "./definitions/define-model.ts";
export {
  defineGymnasiumServer,
  defineResourcesServer,
  type MetricsHooks,
  type StepReply,
  type VerifyResult,
} from "./definitions/define-resources.ts";
export { EmptyTurns } from "./definitions/empty-turns.ts";
export { HttpError, JudgeError } from "./definitions/errors.ts";
export {
  createJudge,
  Judge,
  type JudgeMessage,
  type JudgeReply,
  judgeErrorStatus,
  requireJudgeText,
} from "./definitions/judge/judge.ts";
export { judgeConfig } from "./definitions/judge/judge-config.ts";
export { firstLabel, jsonVerdict, lastLabel, letterGrade } from "./definitions/judge/judge-verdict.ts";
export { perServer } from "./definitions/per-server.ts";
export {
  type ChatPrompt,
  compilePrompt,
  loadPromptText,
  loadPromptYaml,
  type PromptTemplate,
} from "./definitions/prompt-template.ts";
export {
  allAssistantText,
  lastPartOfLastMessage,
  lastTextMessage,
  lastUserText,
} from "./definitions/response-text.ts";
export { type StandardRunArgs, standardRun } from "./definitions/standard-run.ts";
export { stripThinking, stripThinkPairs } from "./definitions/think-text.ts";
export { runToolCall, type ToolRun } from "./definitions/tool-calls.ts";
export { type ToolLoopArgs, type ToolLoopHooks, toolLoop } from "./definitions/tool-loop.ts";
export { toolOutput } from "./definitions/tool-output.ts";
export { errorMessage, GymError } from "./errors.ts";
export type { JsonObject } from "./python/json/json-object.ts";
