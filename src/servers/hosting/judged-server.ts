import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../base/python/json/door.ts";
import type { ServerDefinition } from "../definitions/definitions.ts";
import { messageItem } from "./response-items.ts";
import { createTestServer, type TestServer } from "./test-server.ts";

export interface JudgedServer {
  server: TestServer;
  /** The requests to the judge. */
  calls: { path: string; body: JsonObject }[];
  /** The text of the last message of each request. */
  prompts: string[];
}

/**
 * Starts a resources server whose judge (`judge_model_server: judge`) gives these replies, in order. A string is the text
 * of a message, an object the body, or `{status, body}`. Further calls fail to connect.
 *
 * @param testUrl `import.meta.url` of a test in the folder of the server, for its prompt files.
 * @example
 * const { server, prompts } = await createJudgedServer(definition, import.meta.url, ["[[YES]]"]);
 */
export async function createJudgedServer(
  definition: ServerDefinition,
  testUrl: string,
  replies: readonly (string | object)[],
  config: JsonObject = {},
): Promise<JudgedServer> {
  const calls: JudgedServer["calls"] = [];
  const prompts: string[] = [];
  const server = await createTestServer(definition, {
    config: { judge_model_server: "judge", ...config },
    directory: fileURLToPath(new URL(".", testUrl)),
    servers: {
      judge(path, body) {
        const reply = replies[calls.length];
        const call = body as JsonObject;
        calls.push({ path, body: call });
        const messages = (call["messages"] ?? call["input"]) as { content: string }[];
        prompts.push(messages.at(-1)?.content ?? "");
        if (reply === undefined) throw new Error("connection refused");
        if (typeof reply !== "string") return reply;
        return path.endsWith("/chat/completions")
          ? { choices: [{ message: { role: "assistant", content: reply } }] }
          : { output: [messageItem(reply)] };
      },
    },
  });
  return { server, calls, prompts };
}
