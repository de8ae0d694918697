export { connectToRun } from "./client/connect.ts";
export { type Cookies, cookieHeader, mergeCookies, parseSetCookies } from "./client/cookies.ts";
export { Deadline, withDeadline } from "./client/deadline.ts";
export { billedCompletion, billedResponse } from "./client/provider/billed.ts";
export { type OpenProviderOptions, openProvider } from "./client/provider/open-provider.ts";
export type { Provider, ProviderCall, ProviderReply } from "./client/provider/provider.ts";
export { isProviderError, ProviderError } from "./client/provider/provider-error.ts";
export { redactor } from "./client/provider/redact.ts";
export { HOSTED, type ProviderSettings, providerConfig, TRAINING } from "./client/provider/settings.ts";
export { nextDelay, type RetryBudget, retryAfterMs, sleep } from "./client/retry.ts";
export { untilAborted } from "./client/run-client.ts";
export { type CallOptions, callServer, type ServerClient, type ServerReply } from "./client/server-client.ts";
export type { StopSignal } from "./client/stop-signal.ts";
export type { BenchmarkSources, PrepareContext } from "./datasets/benchmarks/prepare-context.ts";
export { errorMessage, GymError } from "./errors.ts";
export type { RolloutDriver, RolloutDriverContext } from "./rollouts/rollout-driver.ts";
export {
  agentConfig,
  loopAgentConfig,
  maxEmptyTurns,
  modelServerRef,
  resourcesServerRef,
} from "./server/agent-config.ts";
export { type CallLimits, callLimits } from "./server/call-limits.ts";
export { callModel, inputItems } from "./server/call-model.ts";
export { isObserved } from "./server/capture/settings.ts";
export type { TokenCaptureRecord } from "./server/capture/token-record.ts";
export type { TokenSink, TokenSnapshot, TokenSource } from "./server/capture/token-sink.ts";
export type { ServerContext } from "./server/context.ts";
export { type AgentReply, defineAgent, type RolloutScope } from "./server/define-agent.ts";
export { defineModel, type ModelCallScope } from "./server/define-model.ts";
export {
  defineGymnasiumServer,
  defineResourcesServer,
  type MetricsHooks,
  type StepReply,
  type VerifyResult,
} from "./server/define-resources.ts";
export type { JsonObject } from "./server/definitions.ts";
export { EmptyTurns } from "./server/empty-turns.ts";
export { HttpError, JudgeError } from "./server/errors.ts";
export {
  type AskOptions,
  createJudge,
  Judge,
  type JudgeMessage,
  type JudgeOptions,
  type JudgeReply,
  judgeErrorStatus,
  requireJudgeText,
  type VoteResult,
} from "./server/judge.ts";
export { type JudgeConfig, judgeConfig, ServerReference } from "./server/judge-config.ts";
export { firstLabel, jsonVerdict, lastLabel, letterGrade } from "./server/judge-verdict.ts";
export { perServer } from "./server/per-server.ts";
export {
  type ChatPrompt,
  compilePrompt,
  loadPromptText,
  loadPromptYaml,
  type PromptTemplate,
  PromptTemplateError,
} from "./server/prompt-template.ts";
export {
  allAssistantText,
  lastPartOfLastMessage,
  lastTextMessage,
  lastUserText,
} from "./server/response-text.ts";
export { Semaphore } from "./server/semaphore.ts";
export { standardRun } from "./server/standard-run.ts";
export { stripThinking, stripThinkPairs } from "./server/think-text.ts";
export { runToolCall, type ToolRun } from "./server/tool-calls.ts";
export { toolOutput } from "./server/tool-output.ts";
export { TrajectoryRecorder } from "./server/trajectory.ts";
export { type TruncationPolicy, truncateText } from "./server/truncate-text.ts";
