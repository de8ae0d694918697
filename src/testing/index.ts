export {
  createTestServer,
  Jar,
  type ScriptedServer,
  type TestReply,
  TestServer,
  type TestServerOptions,
} from "./test-server.ts";
