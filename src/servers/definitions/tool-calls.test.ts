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

it("rejects calls of routes that are not tools, even if a row offers them", async () => {
  for (const name of ["verify", "seed_session", "mcp"]) expect(await reached(name, [name])).toEqual([]);
});

it("calls tools named like gymnasium routes only if the row offers them", async () => {
  expect(await reached("step", [])).toEqual([]);
  expect(await reached("step", ["step"])).toEqual(["/step"]);
  expect(await reached("look", [])).toEqual(["/look"]);
});

it("writes the output of a call as JSON in Python's form", () => {
  expect(toolOutput({ call_id: "c1" }, { card: "♠A", value: [1, 11] })).toEqual({
    call_id: "c1",
    output: '{"card": "\\u2660A", "value": [1, 11]}',
  });
});
