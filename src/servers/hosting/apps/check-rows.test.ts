import { describe, expect, it } from "vitest";
import { z } from "zod";
import { loopAgentConfig } from "../../definitions/agent-config.ts";
import { defineAgent } from "../../definitions/define-agent.ts";
import { defineGymnasiumServer, defineResourcesServer } from "../../definitions/define-resources.ts";
import { verifyBody } from "../response-items.ts";
import { createTestServer } from "../test-server.ts";

const weather = defineResourcesServer({
  row: z.object({ city: z.string() }),
  tools: {
    get_weather: {
      description: "Tells the weather.",
      input: z.object({ city: z.string(), days: z.number().optional() }),
      run: () => "sunny",
    },
    get_time: { expose: false, run: () => "noon" },
  },
  verify: () => ({ reward: 1 }),
});
const OFFERED = [
  {
    type: "function",
    name: "get_weather",
    description: "Tells the weather.",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "number" } },
      required: ["city"],
    },
    strict: false,
  },
];
const tool = (name: string) => ({ type: "function", name, parameters: {}, strict: true });

async function problemsOf(definition: Parameters<typeof createTestServer>[0], ...rows: unknown[]) {
  const server = await createTestServer(definition);
  const { status, body } = await server.post("/check_rows", { rows });
  await server.close();
  expect(status).toBe(200);
  return body.problems;
}

describe("POST /check_rows", () => {
  it("reports missing fields and unknown tools of rows", async () => {
    const good = {
      responses_create_params: { input: "?", tools: [tool("get_weather"), tool("get_time")] },
      city: "Oslo",
    };
    const problems = await problemsOf(
      weather,
      good,
      { responses_create_params: { input: "?" } },
      { responses_create_params: { input: "?", tools: [tool("get_wether")] }, city: "Oslo" },
      { city: "Oslo" },
      "no row",
    );
    expect(problems).toEqual([
      { index: 1, problems: ["city: Field required"] },
      {
        index: 2,
        problems: [
          "responses_create_params.tools.0.name: The server has no tool 'get_wether'. Did you mean 'get_weather'?",
        ],
      },
      { index: 3, problems: [expect.stringContaining("responses_create_params")] },
      { index: 4, problems: ["Input should be a valid dictionary"] },
    ]);
  });

  it("accepts any tools in rows of a server without tools", async () => {
    const scorer = defineResourcesServer({ verify: () => ({ reward: 1 }) });
    const row = { responses_create_params: { input: "?", tools: [tool("anything")] } };
    expect(await problemsOf(scorer, row)).toEqual([]);
  });

  it("checks rows of gymnasium servers against both schemas", async () => {
    const game = defineGymnasiumServer({
      row: z.object({ level: z.number() }),
      seed: z.looseObject({ goal: z.string() }),
      reset: () => ({ session: undefined }),
      step: () => ({ terminated: true }),
    });
    const row = { responses_create_params: { input: "?" }, level: 1 };
    expect(await problemsOf(game, row, { ...row, goal: "x" })).toEqual([
      { index: 0, problems: ["goal: Field required"] },
    ]);
  });

  it("rejects a body without a list of rows", async () => {
    const server = await createTestServer(weather);
    expect((await server.post("/check_rows", { rows: 1 })).status).toBe(422);
    await server.close();
  });
});

describe("POST /seed_session", () => {
  it("accepts the same rows as the original from callers that are not agents", async () => {
    const server = await createTestServer(weather);
    for (const body of [{}, { responses_create_params: { input: "?" } }])
      expect(await server.post("/seed_session", body)).toMatchObject({ status: 200, body: {} });
    await server.close();
  });
});

describe("an agent", () => {
  const agent = defineAgent({
    config: loopAgentConfig,
    responses: async ({ params, cookies }) => {
      const { response } = verifyBody({}) as { response: never };
      return { response: Object.assign({}, response, { tools: params.tools ?? [] }), cookies };
    },
  });
  const config = {
    resources_server: { type: "resources_servers", name: "world" },
    model_server: { type: "responses_api_models", name: "model" },
  };

  it("offers and records the tools of the server for rows without tools", async () => {
    const world = await createTestServer(weather);
    const server = await createTestServer(agent, { config, servers: { world: world.app } });
    const run = async (params: object) => {
      const row = { responses_create_params: { input: "?", ...params }, city: "Oslo" };
      return (await server.post("/run", row, server.newJar())).body;
    };
    const filled = await run({});
    expect(filled.response.tools).toMatchObject(OFFERED);
    expect(filled.responses_create_params.tools).toMatchObject(OFFERED);
    expect((await run({ tools: [] })).response.tools).toEqual([]);
    expect((await run({ tools: [tool("get_weather")] })).response.tools).toMatchObject([{ strict: true }]);
    const { status, body } = await server.post("/check_rows", {
      rows: [{ responses_create_params: { input: "?" } }],
    });
    expect([status, body.problems]).toEqual([200, [{ index: 0, problems: ["city: Field required"] }]]);
    await server.close();
    await world.close();
  });

  it("does not call the model for a row that cannot be scored", async () => {
    const world = await createTestServer(weather);
    let asked = 0;
    const counting = defineAgent({
      config: loopAgentConfig,
      responses: () => {
        asked++;
        throw new Error("not reached");
      },
    });
    const server = await createTestServer(counting, { config, servers: { world: world.app } });
    const { status, text } = await server.post("/run", { responses_create_params: { input: "?" } });
    expect([status, asked]).toEqual([422, 0]);
    expect(text).toContain("Field required");
    await server.close();
    await world.close();
  });

  it("forwards the error of an unreachable resources server", async () => {
    const server = await createTestServer(agent, {
      config,
      servers: { world: () => ({ status: 404, body: { detail: "Not Found" } }) },
    });
    expect((await server.post("/check_rows", { rows: [] })).status).toBe(404);
    await server.close();
  });
});
