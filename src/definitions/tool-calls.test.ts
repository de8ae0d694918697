import { expect, it } from "vitest";
import { ReceivedReply } from "../calls/run-client.ts";
import type { ServerClient } from "../calls/server-client.ts";
import { runToolCall, toolOutput } from "./tool-calls.ts";

/** The routes that a call reaches. */
async function reached(name: string, offered: readonly string[]): Promise<string[]> {
  const paths: string[] = [];
  const client = {
    post: async (_server: string, path: string) => {
      paths.push(path);
      return new ReceivedReply({ status: 200, cookies: {}, body: {} });
    },
  } as unknown as ServerClient;
  const tools = offered.map((each) => ({
    type: "function" as const,
    name: each,
    parameters: {},
    strict: false,
  }));
  const rollout = { prefix: "", modelPrefix: "", onStage: () => {} };
  const call = { type: "function_call" as const, call_id: "c", name, arguments: "{}" };
  const signal = new AbortController().signal;
  await runToolCall(call, {}, { client, resourcesServer: "world", rollout, signal, tools });
  return paths;
}

it("keeps the routes of the agent from the model, whatever a row offers", async () => {
  for (const name of ["verify", "seed_session", "mcp"]) expect(await reached(name, [name])).toEqual([]);
});

it("reaches tools named like the routes of games only where the row offers them", async () => {
  expect(await reached("step", [])).toEqual([]);
  expect(await reached("step", ["step"])).toEqual(["/step"]);
  expect(await reached("look", [])).toEqual(["/look"]);
});

it("answers a call with JSON as Python writes it", () => {
  expect(toolOutput({ call_id: "c1" }, { card: "♠A", value: [1, 11] })).toEqual({
    call_id: "c1",
    output: '{"card": "\\u2660A", "value": [1, 11]}',
  });
});
