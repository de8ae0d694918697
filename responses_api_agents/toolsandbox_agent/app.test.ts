import { defineResourcesServer } from "nemo-gym";
import { createTestServer, functionCallItem, messageItem, verifyBody } from "nemo-gym/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import definition from "./app.ts";

/** Plays against a server whose user says one more thing, and then ends the scenario. */
async function play(turns: (object[] | null)[], config: object = {}, seed?: object) {
  const called: { path: string; body: Record<string, unknown> }[] = [];
  const asked: { input: { content: string }[]; tools: unknown[] }[] = [];
  let step = 0;
  const server = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "toolsandbox" },
      model_server: { type: "responses_api_models", name: "model" },
      ...config,
    },
    servers: {
      model: (_, body) => {
        asked.push(body as never);
        const turn = turns.shift();
        return turn ? verifyBody({}, ...(turn as never[])).response : { status: 400, body: { error: "bad" } };
      },
      toolsandbox: (path, body) => {
        called.push({ path, body: body as never });
        if (path === "/seed_session")
          return seed ?? { env_id: "e1", obs: [{ role: "user", content: "Call Anna." }], tools: [tool] };
        if (path === "/step") {
          step++;
          return { obs: [{ role: "user", content: `message ${step}` }], done: step === 2 };
        }
        return path === "/verify" ? { ...(body as object), reward: 0.5 } : { success: true };
      },
    },
  });
  const { status, body } = await server.post("/run", { task_idx: 7, responses_create_params: { input: [] } });
  await server.close();
  return { status, body, called, asked };
}
const tool = { type: "function", name: "call", parameters: {}, strict: true };
const call = functionCallItem("call", {});
const said = messageItem("Done.");

it("sends calls or a text to the server until it is done, then closes and verifies", async () => {
  const { body, called, asked } = await play([[said, call], [said]]);
  expect(called.map(({ path }) => path)).toEqual(["/seed_session", "/step", "/step", "/close", "/verify"]);
  expect(called[1]?.body).toMatchObject({ env_id: "e1", function_calls: [{ name: "call" }], text: null });
  expect(called[2]?.body).toMatchObject({ function_calls: [], text: "Done." });
  expect(asked[0]).toMatchObject({ input: [{ content: "Call Anna." }], tools: [{ name: "call" }] });
  expect(asked[1]?.input).toHaveLength(4);
  expect(body).toMatchObject({ reward: 0.5, response: { env_id: "e1", group_id: "7" } });
});

it("ends after max_steps and after a turn without calls and text", async () => {
  const steps = async (turns: object[][], config?: object) =>
    (await play(turns, config)).called.filter(({ path }) => path === "/step").length;
  expect(await steps([[said], [said]], { max_steps: 1 })).toBe(1);
  expect(await steps([[{ type: "reasoning", id: "rs", summary: [] }]])).toBe(0);
});

it("returns turns if configured", async () => {
  const { body } = await play([[said], [said]], { return_transitions: true });
  expect(body.response.contains_transitions).toBe(true);
  expect(body.response.output.map((turn: unknown[]) => turn.length)).toEqual([3, 5]);
});

it("closes the scenario and fails the rollout if the model or the server fails", async () => {
  const failed = await play([[said], null]);
  expect(failed.status).toBeGreaterThanOrEqual(400);
  expect(failed.called.at(-1)?.path).toBe("/close");
  const empty = await play([[said]], {}, { env_id: "e1", obs: [], tools: [] });
  expect(empty.status).toBe(502);
  expect(JSON.stringify(empty.body)).toContain("does not answer as a ToolSandbox server");
});

it("keeps the session of a server that identifies it by a cookie", async () => {
  const scenario = defineResourcesServer({
    session: () => ({ steps: 0 }),
    seedReply: () => ({ env_id: "e1", obs: [{ role: "user", content: "Call Anna." }], tools: [] }),
    tools: {
      step: {
        input: z.looseObject({}),
        run: ({ session }) => ({ obs: [{ role: "user", content: "And?" }], done: ++session.steps === 2 }),
      },
      close: { input: z.looseObject({}), run: () => ({ success: true }) },
    },
    verify: ({ session }) => ({ reward: session.steps }),
  });
  const toolsandbox = await createTestServer(scenario, { name: "toolsandbox" });
  const server = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "toolsandbox" },
      model_server: { type: "responses_api_models", name: "model" },
    },
    servers: { toolsandbox: toolsandbox.app, model: () => verifyBody({}, said).response },
  });
  const { body } = await server.post("/run", { responses_create_params: { input: [] } });
  await server.close();
  await toolsandbox.close();
  expect(body.reward).toBe(2);
});
