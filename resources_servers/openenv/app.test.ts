import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { afterEach, expect, it } from "vitest";
import definition from "./app.ts";
import { MOVE, OpenEnvDouble, walk } from "./openenv-double.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Tools instead of steps. */
function echo() {
  return ({ type, data }: { type: string; data: Record<string, unknown> }) => {
    if (type === "close") return undefined;
    const observation =
      data["type"] === "list_tools"
        ? {
            tools: [{ name: "echo", description: "Echo.", input_schema: { type: "object", properties: {} } }],
          }
        : { result: (data["arguments"] as object) ?? null, error: null };
    return {
      type: "observation",
      data: { observation, reward: data["type"] === "call_tool" ? 1 : null, done: false },
    };
  };
}

async function serve(config: object = {}, environment: typeof walk = walk, capacity?: number) {
  const double = await OpenEnvDouble.start(MOVE, environment as never, capacity);
  ends.push(() => double.close());
  const server = await createTestServer(definition, { config: { base_url: double.url, ...config } });
  ends.push(() => server.close());
  return { server, double };
}
const answer = verifyBody({}, messageItem("Done."));

it("runs an episode and returns the sum of its rewards once", async () => {
  const { server, double } = await serve({ reset_kwargs: { start: 1 } });
  await server.post("/seed_session", {});
  expect(double.sockets.size).toBe(1);
  expect((await server.post("/step", { move: 0 })).body).toEqual({ position: 1, reward: null, done: false });
  expect((await server.post("/step", { move: 99 })).body).toEqual({ error: "bad move", result: null });
  expect((await server.post("/step", {})).body).toMatchObject({ error: "Invalid message: []", result: null });
  expect((await server.post("/state", {})).body).toEqual({ position: 1 });
  expect((await server.post("/step", { move: 3 })).body).toEqual({ position: 4, reward: 1.5, done: true });
  expect((await server.post("/step", { move: 1 })).body).toEqual({
    error: "Episode has ended.",
    result: null,
  });
  expect((await server.verify(answer)).body.reward).toBe(1.5);
  expect((await server.verify(answer)).body.reward).toBe(0);
  expect((await server.post("/step", { move: 1 })).body).toMatchObject({
    error: expect.stringContaining("No active"),
  });
  await expect.poll(() => double.sockets.size).toBe(0);
});

it("returns the error of the original without a session", async () => {
  const { server } = await serve();
  expect((await server.post("/step", { move: 1 })).body).toEqual({
    error: "No active session. Call /seed_session first.",
    result: null,
  });
  expect((await server.verify(answer)).body.reward).toBe(0);
});

it("starts again when it is seeded again, with the arguments of the row", async () => {
  const { server, double } = await serve();
  await server.post("/seed_session", {});
  await server.post("/step", { move: 1 });
  await server.post("/seed_session", { reset_kwargs: { start: -2 } });
  expect((await server.post("/step", { move: 1 })).body).toMatchObject({ position: -1 });
  expect((await server.verify(answer)).body.reward).toBe(0.5);
  await expect.poll(() => double.sockets.size).toBe(0);
});

it("shows the model the observation of reset", async () => {
  const { server } = await serve({ reset_kwargs: { start: 1 } });
  const { body } = await server.post("/seed_session", {
    responses_create_params: { input: "Go.", tools: [] },
  });
  expect(body).toEqual({ obs: [{ role: "user", content: 'The environment shows:\n{"position":1}' }] });
});

it("offers an action as a tool, and the tools of an environment with tools", async () => {
  const { server } = await serve();
  const row = { responses_create_params: { input: "Go." } };
  const { body } = await server.post("/seed_session", row);
  expect(body.tools).toMatchObject([
    { type: "function", name: "step", parameters: { properties: { move: { type: "integer" } } } },
    { name: "state" },
  ]);
  expect(body.tools[0].parameters.properties.metadata).toBeUndefined();
  const tools = await serve({ is_mcp: true }, echo as never);
  const seeded = await tools.server.post("/seed_session", row);
  expect(seeded.body.tools).toMatchObject([{ name: "echo", description: "Echo." }]);
  expect((await tools.server.post("/echo", { a: 1 })).body).toEqual({ result: { a: 1 }, error: null });
  expect((await tools.server.verify(answer)).body.reward).toBe(1);
});

it("fails the rollout with a retryable error if the server is full or not reachable", async () => {
  const { server } = await serve({}, walk, 0);
  const full = await server.post("/seed_session", {});
  expect(full.status).toBe(503);
  expect(JSON.stringify(full.body)).toContain("Server at capacity");
  expect(JSON.stringify(full.body)).toContain("Raise its max_concurrent_envs, or lower --concurrency.");
  const nobody = await createTestServer(definition, { config: { base_url: "http://127.0.0.1:9" } });
  ends.push(() => nobody.close());
  expect((await nobody.post("/seed_session", {})).status).toBe(503);
});

it("fails the rollout if the environment does not answer in time", async () => {
  const silent = () => {
    const answers = walk();
    return (message: Parameters<typeof answers>[0]) => (message.type === "step" ? null : answers(message));
  };
  const { server, double } = await serve({ timeout: 0.2 }, silent as never);
  await server.post("/seed_session", {});
  const { status, body } = await server.post("/step", { move: 1 });
  expect(status).toBe(503);
  expect(JSON.stringify(body)).toContain("no answer to step within 0.2 s");
  await expect.poll(() => double.sockets.size).toBe(0);
});
