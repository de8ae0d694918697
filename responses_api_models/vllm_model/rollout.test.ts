import { callsOf, classifyCalls } from "nemo-gym/openai";
import { createTestServer, type TestServer, VllmDouble, type VllmDoubleOptions } from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import agentDefinition from "../../responses_api_agents/simple_agent/app.ts";
import modelDefinition from "./app.ts";

const TURNS = 20;
const open: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

const tools = [
  {
    type: "function",
    name: "find_ferry",
    parameters: { type: "object", properties: { harbour: { type: "string" } } },
    strict: true,
  },
];

/** A rollout of twenty model calls: nineteen with a tool call, then the answer. */
async function rollout(options: VllmDoubleOptions, config: Record<string, unknown> = {}) {
  const double = await new VllmDouble({
    answer: (_request, turn) =>
      turn < TURNS - 1
        ? {
            reasoning: `Thinking about harbour ${turn}.`,
            text: turn % 3 === 0 ? `Looking at number ${turn}.` : "",
            toolCalls: [{ name: "find_ferry", arguments: `{"harbour": "Port ${turn}"}` }],
          }
        : { reasoning: "Done.", text: "The ferry leaves at noon." },
    ...options,
  }).start();
  const model: TestServer = await createTestServer(modelDefinition, {
    name: "policy_model",
    config: {
      base_url: double.baseUrl,
      api_key: "EMPTY",
      model: double.model,
      return_token_id_information: true,
      request_prompt_and_generation_token_ids: true,
      uses_reasoning_parser: true,
      ...config,
    },
  });
  const agent = await createTestServer(agentDefinition, {
    name: "agent",
    config: {
      resources_server: { type: "resources_servers", name: "harbour" },
      model_server: { type: "responses_api_models", name: "policy_model" },
    },
    servers: {
      policy_model: model.app,
      harbour: (path) => ({ status: 200, body: { found: path, at: "noon" } }),
    },
  });
  open.push(double, model, agent);
  const { status, body } = await agent.post("/v1/responses", {
    input: [{ role: "user", content: "When does the ferry leave?" }],
    tools,
  });
  expect(status).toBe(200);
  const { counts, boundaries } = classifyCalls(callsOf(body.output));
  const reported = (await model.get("/token_continuity")).body;
  return { double, counts, boundaries, reported, output: body.output };
}

describe("a rollout of twenty turns with tools", () => {
  it.each([
    ["an engine that renders the conversation again", {}],
    ["an engine that splices generated tokens", { splicesPrefix: true }],
    ["an engine without token ids in its answers", { returnsTokenIds: false }],
  ] satisfies [string, VllmDoubleOptions][])("extends every prompt exactly: %s", async (_name, options) => {
    const { double, counts, reported } = await rollout(options);
    expect(double.calls).toHaveLength(TURNS);
    expect(double.calls.slice(1).every(({ continues }) => continues)).toBe(true);
    expect(counts).toEqual({ extend: TURNS - 1, fork: 0, lost: 0 });
    expect(reported).toEqual({ boundaries: counts, examples: [] });
  });

  it("detects drift in generated tokens", async () => {
    const odd = new Set([3, 11]);
    const drift = (turn: number) => (odd.has(turn) ? ("odd-spelling" as const) : undefined);
    const { double, counts, boundaries, reported } = await rollout({ drift });
    // The turn after an unusual spelling tokenizes it differently; later turns continue the canonical tokens.
    expect(counts).toEqual({ extend: TURNS - 3, fork: 2, lost: 0 });
    expect(boundaries[3]).toMatchObject({ kind: "fork", departsIn: "generation" });
    expect(boundaries[11]).toMatchObject({ kind: "fork", departsIn: "generation" });
    expect(
      double.calls.map(({ continues }) => continues).flatMap((ok, index) => (ok === false ? [index] : [])),
    ).toEqual([4, 12]);
    expect(reported.boundaries).toEqual(counts);
    expect(reported.examples).toHaveLength(2);
  });

  it("has no drift if the engine splices the prefix", async () => {
    const drift = (turn: number) => (turn % 4 === 1 ? ("odd-spelling" as const) : undefined);
    const { counts } = await rollout({ drift, splicesPrefix: true });
    expect(counts).toEqual({ extend: TURNS - 1, fork: 0, lost: 0 });
  });

  it("detects drift in the prompt", async () => {
    const drift = (turn: number) => (turn >= 5 ? ("changing-prompt" as const) : undefined);
    const { counts, boundaries } = await rollout({ drift });
    expect(counts.fork).toBe(TURNS - 5);
    expect(boundaries[4]).toMatchObject({ kind: "fork", departsIn: "prompt" });
  });

  it("detects a template that removes earlier reasoning", async () => {
    const { counts, boundaries } = await rollout({ keepsReasoning: false });
    expect(counts).toEqual({ extend: 0, fork: TURNS - 1, lost: 0 });
    expect(boundaries[0]).toMatchObject({ departsIn: "generation" });
  });

  it("counts a boundary as lost if ids are missing", async () => {
    const { output } = await rollout({}, { return_token_id_information: false });
    expect(classifyCalls(callsOf(output)).counts).toEqual({ extend: 0, fork: 0, lost: TURNS - 1 });
  });
});
