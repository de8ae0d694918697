import { defineResourcesServer } from "nemo-gym";
import { createTestServer, functionCallItem, messageItem, modelResponse } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { lastRounds, withHiddenOutputs } from "./rounds.ts";

const environment = defineResourcesServer({
  fallbackTool: { run: ({ name }) => (name === "raw" ? { a: 1 } : { results_string: `${name} found` }) },
  verify: ({ body }) => ({
    reward: 1,
    counted: (body["response"] as Record<string, unknown>)["reset_count"] ?? null,
  }),
});
const call = (name: string, input: object = {}, id = name) => functionCallItem(name, input, id);
const used = (tokens: number, ...output: Parameters<typeof modelResponse>) => ({
  ...modelResponse(...output),
  usage: {
    ...{ input_tokens: tokens, output_tokens: 1, total_tokens: tokens + 1 },
    ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
  },
});

interface Request {
  input: { role?: string; type?: string; content?: string; output?: string }[];
  tools?: { name: string }[];
}

async function run(policy: object[], config: object = {}, params: object = {}) {
  const tools = await createTestServer(environment, { name: "web" });
  const asked: Request[] = [];
  const agent = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "web" },
      model_server: { type: "responses_api_models", name: "policy" },
      ...{ max_steps: 6, nudge_steps: false, context_reset_tokens: 100, context_reset_keep_rounds: 1 },
      ...config,
    },
    servers: {
      web: tools.app,
      policy(_path, body) {
        asked.push(body as Request);
        return policy[asked.length - 1] ?? { status: 500, body: "no more turns" };
      },
    },
  });
  const input = [
    { role: "system", content: "S" },
    { role: "user", content: "Q" },
  ];
  const { status, body } = await agent.post("/run", { responses_create_params: { input, ...params } });
  await agent.close();
  await tools.close();
  const texts = (body.response?.output ?? []).map(
    (item: { output?: string; content?: { text: string }[] }) => item.output ?? item.content?.[0]?.text,
  );
  return { status, body, asked, texts };
}
const seen = (request?: Request) => request?.input.map((item) => item.output ?? item.role ?? item.type);

describe("a full context", () => {
  it("discards the answer and keeps the last rounds", async () => {
    const { body, asked } = await run([
      used(10, call("a")),
      used(10, call("b")),
      used(101, call("lost")),
      used(10, messageItem("done")),
    ]);
    expect(seen(asked[3])).toEqual(["system", "user", "function_call", "b found"]);
    expect(body.response).toMatchObject({ reset_count: 1, num_tool_calls: 2 });
    expect(body.response.output).toHaveLength(5);
    expect(body.response.usage.total_tokens).toBe(33);
  });

  it("is no reason for a reset when there were enough", async () => {
    const { body } = await run([used(101, messageItem("done"))], { max_reset_count: 0 });
    expect(body.response).toMatchObject({ reset_count: 0 });
  });

  it("is announced if the model keeps a board", async () => {
    const { body, asked, texts } = await run(
      [
        used(101, call("a")),
        used(10, call("update_progress", { board: "Answer: 42" }, "u")),
        used(10, messageItem("hm")),
      ],
      { progress: true },
      { tools: [{ type: "function", name: "bash_command", parameters: null, strict: null }] },
    );
    expect(asked[0]?.tools?.map(({ name }) => name)).toEqual(["update_progress", "bash_command"]);
    expect(seen(asked[1])?.at(-1)).toContain("a found\n\n[Note: your context is nearly full");
    expect(asked[2]?.input[0]?.content).toContain("S\n\n## Progress board\n\nAnswer: 42");
    expect(seen(asked[2])).toHaveLength(4);
    expect(texts.at(-1)).toBe("hm\n\n[Recovered from progress board] Answer: 42");
    expect(body.response).toMatchObject({ reset_count: 1, pre_reset_warning_steps: [1] });
  });
});

it("shows the text of results, and how many turns remain", async () => {
  const turns = [
    used(1, call("a"), call("raw")),
    used(1, functionCallItem("a", "{bad", "x")),
    used(1, messageItem("done")),
  ];
  const { texts } = await run(turns, { nudge_steps: true, max_steps: 16 });
  expect(texts[2]).toBe("a found\n\n[15 turns remaining out of 16]");
  expect(texts[3]).toBe('{"a":1}\n\n[15 turns remaining out of 16]');
  expect(texts[5]).toContain("not JSON");
});

it("asks again for an empty answer, if it may", async () => {
  const turns = [used(1, messageItem("<think>a</think>")), used(1, messageItem("b"))];
  expect((await run(turns, { max_run_retries: 2 })).texts).toEqual(["b"]);
  expect((await run(turns)).texts).toEqual(["<think>a</think>"]);
});

it("fails the rollout if the model cannot be asked", async () => {
  expect((await run([])).status).toBeGreaterThanOrEqual(500);
});

it("hides old results and finds complete rounds", () => {
  const items = [
    call("a"),
    { type: "function_call_output", call_id: "a", output: "1" },
    messageItem("m"),
    call("b"),
  ] as never[];
  expect(withHiddenOutputs(items, 0)[1]).toMatchObject({ output: expect.stringContaining("hidden") });
  expect(lastRounds(items, 5)).toHaveLength(2);
  expect(lastRounds(items, 0)).toEqual([]);
});
