/**
 * Agents around other people's programs: command-line harnesses and agent frameworks.
 *
 * @module
 */
export {
  type CliAgentOptions,
  cliAgentConfig,
  defineCliAgent,
  type HarnessLaunch,
  type HarnessRequest,
  type McpConnection,
} from "./cli/define-cli-agent.ts";
export type { HarnessOutcome, HarnessPlace } from "./cli/harness-run.ts";
export { type HarnessPackage, harnessRoot, installedProgram, installHarness } from "./cli/program.ts";
export { type HarnessPrompt, promptOf } from "./cli/prompt.ts";
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
  langChainTools,
  openAiAgentsTools,
} from "./frameworks/gym-tools.ts";
export { LoopRecord } from "./frameworks/loop-record.ts";
export { type ModelAccess, type ModelAccessOptions, modelAccess } from "./frameworks/model-access.ts";
export { messageOf, type ResponseOfOptions, responseOf } from "./response-of.ts";
