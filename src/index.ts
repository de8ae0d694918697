export { type Cookies, mergeCookies } from "./client/cookies.ts";
export { type CallOptions, callServer, type ServerClient, type ServerReply } from "./client/server-client.ts";
export { GymError } from "./errors.ts";
export type { ServerContext } from "./server/context.ts";
export { type AgentReply, defineAgent, type RolloutScope } from "./server/define-agent.ts";
export { defineModel } from "./server/define-model.ts";
export {
  defineGymnasiumServer,
  defineResourcesServer,
  type MetricsHooks,
  type StepReply,
  type VerifyResult,
} from "./server/define-resources.ts";
export type { JsonObject } from "./server/definitions.ts";
export { HttpError, JudgeError } from "./server/errors.ts";
export { standardRun } from "./server/standard-run.ts";
export { TrajectoryRecorder } from "./server/trajectory.ts";
