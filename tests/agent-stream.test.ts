import { faults, type MockAnswer, MockModelEndpoint } from "nemo-gym/testing";
import OpenAI from "openai";
import { afterEach, expect, it } from "vitest";
import { startServers } from "../src/run/index.ts";
import { repository } from "./gym-process.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const tools: OpenAI.Responses.Tool[] = [
  {
    type: "function",
    name: "get_weather",
    parameters: { type: "object", properties: { city: { type: "string" } } },
    strict: false,
  },
];
const ask = { model: "agent", input: "What is the weather in Oslo?", tools };
const call = { toolCalls: [{ name: "get_weather", arguments: { city: "Oslo" } }] };

/** Serves an agent with a model that returns these responses in order and then fails. */
async function serve(...answers: (MockAnswer | Promise<MockAnswer>)[]): Promise<OpenAI> {
  const left = [...answers];
  const endpoint = await new MockModelEndpoint({
    faultFor: () => (left.length === 0 ? faults.unauthorized("no such key") : undefined),
    answer: () => left.shift() ?? {},
  }).start();
  ends.push(() => endpoint.close());
  const servers = await startServers(
    {
      configPaths: [
        `${repository}/resources_servers/example_single_tool_call/configs/example_single_tool_call.yaml`,
      ],
      model: { type: "openai_model", url: endpoint.baseUrl, name: "scripted", apiKey: "k" },
    },
    { head: false },
  );
  ends.push(() => servers.close());
  const baseURL = `${servers.client.baseUrl("example_single_tool_call_simple_agent")}/v1`;
  return new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 });
}

it("streams the items of the agent while it works", async () => {
  let answer = (_: MockAnswer): void => {};
  // The model does not respond before the client has seen the output of the tool: a stream that waits for the end would never end.
  const later = new Promise<MockAnswer>((resolve) => {
    answer = resolve;
  });
  const client = await serve(call, later);
  const stream = client.responses.stream(ask);
  const seen: string[] = [];
  const numbers: number[] = [];
  for await (const event of stream) {
    numbers.push(event.sequence_number);
    if (event.type !== "response.output_item.done") seen.push(event.type);
    else {
      seen.push(event.item.type);
      if ((event.item.type as string) === "function_call_output") answer({ text: "It is cold in Oslo." });
    }
  }
  expect(seen[0]).toBe("response.created");
  expect(seen.indexOf("function_call")).toBeLessThan(seen.indexOf("function_call_output"));
  expect(seen.indexOf("function_call_output")).toBeLessThan(seen.indexOf("response.output_text.delta"));
  expect(seen.at(-1)).toBe("response.completed");
  expect(numbers).toEqual(numbers.map((_, index) => index));
  const { id, output, output_text, usage } = await stream.finalResponse();
  expect(id).toMatch(/^resp/);
  expect(output.map(({ type }) => type as string)).toEqual([
    "function_call",
    "function_call_output",
    "message",
  ]);
  expect(output_text).toBe("It is cold in Oslo.");
  expect(usage?.total_tokens).toBe(30);
});

it("sets the session cookie of a client before the answer", async () => {
  const client = await serve(call, { text: "Cold." });
  const reply = await client.responses.create({ ...ask, stream: true }).asResponse();
  const names = reply.headers.getSetCookie().map((cookie) => cookie.split("=")[0]);
  expect(names).toContainEqual(expect.stringContaining("example_single_tool_call"));
  expect(await reply.text()).toContain("Cold.");
});

it("reports a failure as an HTTP error before the stream begins, and as an event afterwards", async () => {
  const never = await serve();
  await expect(never.responses.create({ ...ask, stream: true })).rejects.toThrow("401 from 127.0.0.1");
  const later = await serve(call);
  const events: OpenAI.Responses.ResponseStreamEvent[] = [];
  for await (const event of await later.responses.create({ ...ask, stream: true })) events.push(event);
  expect(events.at(-1)).toMatchObject({
    type: "response.failed",
    response: { status: "failed", error: { message: expect.stringContaining("401 from 127.0.0.1") } },
  });
});
