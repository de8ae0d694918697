/** Running definitions, in this process or in others. */

export { createApp } from "./apps/create-app.ts";
export type { HostedInstance } from "./cohost.ts";
export type { LoopLag } from "./guards/loop-monitor.ts";
export { createJudgedServer, type JudgedServer } from "./judged-server.ts";
export { type RunningServers, runServers, type ServersEvent } from "./processes/run-servers.ts";
export {
  createTestServer,
  Jar,
  type ScriptedServer,
  type TestReply,
  TestServer,
  type TestServerOptions,
} from "./test-server.ts";
