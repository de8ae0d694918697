import { describe, expect, it } from "vitest";
import { createTestServer } from "../hosting/test-server.ts";
import { silentLogger } from "../logger.ts";
import { checkDefinition } from "./check-definition.ts";
import { defineAgent } from "./define-agent.ts";
import { defineGymnasiumServer, defineResourcesServer } from "./define-resources.ts";
import type { ServerDefinition } from "./definitions.ts";

const verify = () => ({ reward: 1 });
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
  ])("is refused: case %#", async (options, told) => {
    await expect(start(resources(options))).rejects.toThrow(told);
  });

  it("of another kind is checked by its own options", async () => {
    const agent = { respond: () => ({}) } as never as Parameters<typeof defineAgent>[0];
    await expect(start(defineAgent(agent))).rejects.toThrow("Did you mean 'responses'?");
    const episode = { reset: () => ({}) } as never as Parameters<typeof defineGymnasiumServer>[0];
    await expect(start(defineGymnasiumServer(episode))).rejects.toThrow("defines no function 'step'");
  });

  it("may have options of another version, which are told", () => {
    const told: string[] = [];
    const log = { ...silentLogger, warn: (line: string) => void told.push(line) };
    checkDefinition(resources({ verify, quux: 1 }), "kiln", log);
    expect(told).toEqual(["its definition has 'quux', which nothing reads"]);
  });

  it("may name tools as routes may be named", async () => {
    const server = await start(resources({ verify, tools: { "look-up.v2": { run: () => 1 } } }));
    expect((await server.tool("look-up.v2", {})).body).toBe(1);
  });
});
