/**
 * What authors of agents import: the parts of the agent loop, and agents around other programs, which are command-line
 * harnesses and agent frameworks.
 *
 * @module
 */

export { Semaphore } from "../../base/transport/light-door.ts";
export { type Cookies, mergeCookies } from "../calls/cookies.ts";
export { isServerCallError } from "../calls/errors.ts";
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
  agentRef,
  relay,
  runSingleTurn,
  runSingleTurnRow,
  singleTurnConfig,
} from "../definitions/episodes/environment-servers.ts";
export { Episodes, episodeLimits } from "../definitions/episodes/run-episode.ts";
export {
  type StandardRunArgs,
  seedSession,
  standardRun,
  verifyRollout,
} from "../definitions/standard-run.ts";
export { runToolCall } from "../definitions/tool-calls.ts";
export {
  type CliAgentOptions,
  cliAgentConfig,
  defineCliAgent,
  type HarnessLaunch,
  type HarnessRequest,
  promptArguments,
} from "./cli/define-cli-agent.ts";
export { harnessSandbox } from "./cli/sandboxed-host.ts";
export { Transcript } from "./cli/transcript.ts";
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
  langChainMessages,
  langChainTools,
  openAiAgentsTools,
} from "./frameworks/gym-tools.ts";
