/**
 * What authors of agents import: the parts of the agent loop, and agents around other programs, which are command-line
 * harnesses and agent frameworks.
 *
 * @module
 */

export { untilAborted } from "../../base/transport/deadline.ts";
export { nextDelay } from "../../base/transport/retry.ts";
export { Semaphore } from "../../base/transport/semaphore.ts";
export { type Cookies, cookieHeader, mergeCookies, parseSetCookies } from "../calls/cookies.ts";
export { isObserved } from "../capture/settings.ts";
export { TrajectoryRecorder } from "../capture/trajectory-recorder.ts";
export {
  agentConfig,
  callLimits,
  EmptyTurns,
  maxEmptyTurns,
  modelServerRef,
  resourcesServerRef,
} from "../definitions/agent-config.ts";
export { callModel, inputItems } from "../definitions/call-model.ts";
export {
  type RunScope,
  type StandardRunArgs,
  seedSession,
  standardRun,
  verifyRollout,
} from "../definitions/standard-run.ts";
export { runToolCall, type ToolRun } from "../definitions/tool-calls.ts";
export {
  type CliAgentOptions,
  cliAgentConfig,
  defineCliAgent,
  type HarnessLaunch,
  type HarnessPrompt,
  type HarnessRequest,
  type McpConnection,
  promptOf,
} from "./cli/define-cli-agent.ts";
export type { HarnessOutcome, HarnessPlace } from "./cli/harness-run.ts";
export { type HarnessPackage, harnessRoot, installedProgram, installHarness } from "./cli/program.ts";
export { type HarnessSandbox, harnessSandbox } from "./cli/sandboxed-host.ts";
export { type ReportedUsage, Transcript } from "./cli/transcript.ts";
export {
  defineFrameworkAgent,
  type FrameworkAgentOptions,
  type FrameworkResult,
  type FrameworkRun,
  frameworkAgentConfig,
  IncompleteRun,
} from "./frameworks/define-framework-agent.ts";
export {
  aiSdkTools,
  type GymTool,
  gymTools,
  langChainMessages,
  langChainTools,
  openAiAgentsTools,
} from "./frameworks/gym-tools.ts";
export { LoopRecord } from "./frameworks/loop-record.ts";
export { type ModelAccess, type ModelAccessOptions, modelAccess } from "./frameworks/model-access.ts";
export { messageOf, type ResponseOfOptions, responseOf } from "./response-of.ts";
