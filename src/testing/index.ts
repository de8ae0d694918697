export { functionCallItem, functionCallOutputItem, messageItem, verifyBody } from "./response-items.ts";
export {
  createTestServer,
  Jar,
  type ScriptedServer,
  type TestReply,
  TestServer,
  type TestServerOptions,
} from "./test-server.ts";
