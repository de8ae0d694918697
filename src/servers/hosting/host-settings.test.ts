import { describe, expect, it } from "vitest";
import { defineResourcesServer } from "../definitions/define-resources.ts";
import { hostKeys, misspeltHostKeys, readHostSettings, withHostSettings } from "./host-settings.ts";
import { createTestServer } from "./test-server.ts";

const read = (config: Record<string, unknown>) => readHostSettings("resources_servers", config);

describe("settings of the host in a server's block", () => {
  it.each([
    ["max_body_mb", "foo", "max_body_mb: must be a number"],
    ["max_body_mb", -1, "max_body_mb: must be more than 0, not -1 (null: no limit)"],
    ["max_body_mb", 0, "max_body_mb: must be more than 0"],
    ["session_ttl_seconds", -1, "session_ttl_seconds: must be more than 0"],
    ["max_sessions", 1.5, "max_sessions: must be a whole number"],
    ["num_workers", 0, "num_workers: must be between 1 and 1024"],
    ["num_workers", 5000, "num_workers: must be between 1 and 1024"],
    ["expose_tools_over_mcp", "perhaps", "expose_tools_over_mcp: must be true or false"],
    ["hosting", "foo", 'hosting: must be one of cohosted, process, not "foo"'],
  ])("rejects %s: %j", (key, value, told) => {
    const { problems } = read({ [key]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(told);
  });

  it("converts texts to booleans and numbers like Python servers", () => {
    expect(read({ max_body_mb: "64", expose_tools_over_mcp: "yes", num_workers: "2" })).toEqual({
      values: { max_body_mb: 64, expose_tools_over_mcp: true, num_workers: 2 },
      problems: [],
    });
  });

  it("reads null as no limit or as unset", () => {
    expect(read({ max_body_mb: null, max_sessions: null, num_workers: null, hosting: null })).toEqual({
      values: { max_body_mb: null, max_sessions: null },
      problems: [],
    });
  });

  it("ignores settings of other types of servers", () => {
    expect(readHostSettings("responses_api_models", { max_sessions: "many" }).problems).toEqual([]);
    expect(hostKeys("responses_api_models")).not.toContain("max_sessions");
  });

  it("are reported together in one error", () => {
    const server = { name: "kiln", type: "resources_servers", implementation: "oven" } as const;
    expect(() => withHostSettings(server, { max_body_mb: "x", max_sessions: 0 })).toThrow(
      /'kiln'.*\n {2}- kiln\.resources_servers\.oven\.max_body_mb: .*\n {2}- kiln\.resources_servers\.oven\.max_sessions/,
    );
  });

  it("are checked and converted when a server is created", async () => {
    const definition = defineResourcesServer({
      tools: { look: { run: () => 1 } },
      verify: () => ({ reward: 1 }),
    });
    await expect(createTestServer(definition, { config: { max_sessions: 0 } })).rejects.toThrow(
      "max_sessions",
    );
    const server = await createTestServer(definition, { config: { expose_tools_over_mcp: "yes" } });
    expect((await server.seed({})).body).toHaveProperty("mcp");
  });
});

it("reports misspelt host keys unless the server has them", () => {
  const told = (config: Record<string, unknown>, own?: string[]) => [
    ...misspeltHostKeys("resources_servers", config, own),
  ];
  expect(told({ hostin: "process", max_sesions: 3, entrypoint: "app.ts" })).toEqual([
    "hostin has no effect unless the server reads it itself. Did you mean 'hosting'?",
    "max_sesions has no effect unless the server reads it itself. Did you mean 'max_sessions'?",
  ]);
  expect(told({ hostin: "process" }, ["hostin"])).toEqual([]);
  expect(told({ difficulty: "hard" })).toEqual([]);
});
