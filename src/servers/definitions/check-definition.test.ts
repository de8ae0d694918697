import { describe, expect, it } from "vitest";
import { z } from "zod";
import { silentLogger } from "../../base/logger.ts";
import { createTestServer } from "../hosting/test-server.ts";
import { checkDefinition, unknownKeys } from "./check-definition.ts";
import { defineAgent } from "./define-agent.ts";
import { defineModel } from "./define-model.ts";
import { defineGymnasiumServer, defineResourcesServer } from "./define-resources.ts";
import type { ServerDefinition } from "./definitions.ts";

const verify = () => ({ reward: 1 });
const run = () => 1;
const resources = (options: object) =>
  defineResourcesServer(options as Parameters<typeof defineResourcesServer>[0]);
const start = (definition: ServerDefinition) => createTestServer(definition, { name: "kiln" });

describe("a definition", () => {
  it.each([
    [{ verfy: verify }, "Server 'kiln' defines 'verfy', which nothing reads. Did you mean 'verify'?"],
    [{ verify, toolz: {} }, "Did you mean 'tools'?"],
    [{}, "defines no function 'verify'"],
    [{ verify: 1 }, "defines no function 'verify'"],
    [{ verify, tools: { "": { run: () => 1 } } }, 'declares a tool "", which cannot be called'],
    [{ verify, tools: { "a b/c?": { run: () => 1 } } }, 'declares a tool "a b/c?"'],
    [{ verify, tools: { "..": { run: () => 1 } } }, 'declares a tool ".."'],
    [{ verify, tools: { look: {} } }, "declares a tool 'look' without a function 'run'"],
    [
      { verify, row: { answer: "string" } },
      "defines 'row', which must be a zod schema such as z.object({ … }).",
    ],
    [{ verify, config: 1 }, "defines 'config', which must be a zod schema"],
    [{ verify, tools: { look: { input: {}, run } } }, "'look' whose 'input' is not a zod schema"],
    [
      { verify, tools: { look: { input: z.string(), run } } },
      "declares a tool 'look' with the input z.string(…). The arguments of a call are an object",
    ],
  ])("is rejected: case %#", async (options, told) => {
    await expect(start(resources(options))).rejects.toThrow(told);
  });

  it("of another type is checked against its own options", async () => {
    const agent = { respond: () => ({}) } as never as Parameters<typeof defineAgent>[0];
    await expect(start(defineAgent(agent))).rejects.toThrow("Did you mean 'responses'?");
    const episode = { reset: () => ({}) } as never as Parameters<typeof defineGymnasiumServer>[0];
    await expect(start(defineGymnasiumServer(episode))).rejects.toThrow("defines no function 'step'");
  });

  it("may have unknown options, which are reported", () => {
    const told: string[] = [];
    const log = { ...silentLogger, warn: (line: string) => void told.push(line) };
    checkDefinition(resources({ verify, quux: 1 }), "kiln", log);
    expect(told).toEqual(["its definition has 'quux', which nothing reads"]);
  });

  it("may give a tool any name that is valid in a path", async () => {
    const server = await start(resources({ verify, tools: { "look-up.v2": { run: () => 1 } } }));
    expect((await server.tool("look-up.v2", {})).body).toBe(1);
  });
});

it("reports every key that a closed schema does not know", () => {
  const schema = z.object({ base_url: z.string(), max_queries: z.number().nullish() });
  const found = (config: Record<string, unknown>) => [...unknownKeys(schema, config, ["entrypoint"])];
  expect(found({ base_url: "u", max_queries: 1, entrypoint: "app.ts" })).toEqual([]);
  expect(found({ max_query: 3 })).toEqual([
    "max_query has no effect: nothing reads it. Did you mean 'max_queries'?",
  ]);
  expect(found({ max_query: 3, max_queries: 4 })).toHaveLength(1);
  expect(found({ entry: "app.ts" })).toEqual([expect.stringContaining("Did you mean 'entrypoint'?")]);
  expect(found({ zebra: 3 })).toEqual([
    "zebra has no effect: nothing reads it. The server reads: base_url, max_queries.",
  ]);
  expect([...unknownKeys(z.object({}), { max_query: 3, entrypoint: "app.ts" }, ["entrypoint"])]).toEqual([
    "max_query has no effect: the server declares no keys of its own (config: z.object({ … })).",
  ]);
  expect([
    ...unknownKeys(
      z.preprocess((given) => given, schema),
      { zebra: 3 },
    ),
  ]).toHaveLength(1);
});

it("reports only misspelt keys where the schema takes others too", () => {
  const schema = z.looseObject({ max_queries: z.number() });
  expect([...unknownKeys(schema, { zebra: 1, max_query: 2, max_querys: 2 })]).toEqual([
    "max_querys has no effect: nothing reads it. Did you mean 'max_queries'?",
  ]);
  expect([...unknownKeys(z.record(z.string(), z.unknown()), { bas_url: "u" })]).toEqual([]);
});

it("names the most similar allowed value", async () => {
  const definition = defineModel({
    config: z.looseObject({ provider: z.enum(["together", "nebius"]) }),
    chat: () => Promise.reject(new Error("not asked")),
  });
  await expect(createTestServer(definition, { config: { provider: "togther" } })).rejects.toThrow(
    "Did you mean 'together'?",
  );
});
