import { defineResourcesServer } from "nemo-gym";
import { createTestServer, functionCallItem, messageItem, verifyBody } from "nemo-gym/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import definition from "./app.ts";

const state = (text: string) => ({ type: "message", role: "user", content: text, is_env_state: true });

/** Plays against an environment that ends after two steps. */
async function play(turns: object[][], config: object = {}, steps?: unknown) {
  const called: { path: string; body: Record<string, unknown> }[] = [];
  const asked: { input: { content: string }[]; tools: unknown[] }[] = [];
  let step = 0;
  const server = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "aviary" },
      model_server: { type: "responses_api_models", name: "model" },
      ...config,
    },
    servers: {
      model: (_, body) => {
        asked.push(body as never);
        return verifyBody({}, ...((turns.shift() ?? []) as never[])).response;
      },
      aviary: (path, body) => {
        called.push({ path, body: body as never });
        if (path === "/seed_session")
          return {
            env_id: "e1",
            obs: [state("step 0")],
            tools: [{ type: "function", name: "go", parameters: {}, strict: true }],
          };
        if (path === "/step") {
          step++;
          const output = { type: "function_call_output", call_id: "call_1", output: `went ${step}` };
          return steps ?? { obs: [output, state(`step ${step}`)], reward: 0.5, done: step === 2 };
        }
        return path === "/verify" ? { ...(body as object), reward: 1 } : { success: true };
      },
    },
  });
  const { status, body } = await server.post("/run", { task_idx: 7, responses_create_params: { input: [] } });
  await server.close();
  return { status, body, called, asked };
}
const go = functionCallItem("go", {});

it("lets the environment run the calls until the episode ends, then closes and verifies", async () => {
  const { body, called, asked } = await play([[go], [go]]);
  expect(called.map(({ path }) => path)).toEqual(["/seed_session", "/step", "/step", "/close", "/verify"]);
  expect(called[0]?.body["task_idx"]).toBe(7);
  expect(called[1]?.body).toMatchObject({ env_id: "e1", action: [{ name: "go" }] });
  expect(asked[0]?.tools).toMatchObject([{ name: "go" }]);
  expect(JSON.stringify(asked)).not.toContain("is_env_state");
  expect(body.reward).toBe(1);
  expect(body.response).toMatchObject({ env_id: "e1", group_id: "7", contains_transitions: false });
  const kinds = ["function_call", "function_call_output", "message"];
  expect(body.response.output.map(({ type }: { type: string }) => type)).toEqual([...kinds, ...kinds]);
  expect(body.responses_create_params.input).toMatchObject([{ content: "step 0" }]);
});

it("ends after an answer without tool calls, or after max_steps", async () => {
  expect((await play([[messageItem("No.")]])).called.map(({ path }) => path)).not.toContain("/step");
  const told = await play([[messageItem("No.")], [go]], { done_if_no_tool_calls: false });
  expect(told.called[1]).toMatchObject({ path: "/step", body: { action: [] } });
  const bounded = await play([[go], [go]], { max_steps: 1 });
  expect(bounded.called.filter(({ path }) => path === "/step")).toHaveLength(1);
});

it("shows only the newest state and returns turns if configured", async () => {
  const { asked, body } = await play([[go], [go]], {
    collapse_old_env_states: true,
    old_env_state_message: "(old)",
    return_transitions: true,
  });
  const contents = asked[1]?.input.map(({ content }) => content).filter(Boolean);
  expect(contents).toEqual(["(old)", "step 1"]);
  expect(body.response.contains_transitions).toBe(true);
  expect(body.response.output.map((turn: unknown[]) => turn.length)).toEqual([4, 7]);
});

it("closes the environment after an invalid reply and reports it", async () => {
  const { status, body, called } = await play([[go]], {}, { nothing: true });
  expect(status).toBe(502);
  expect(JSON.stringify(body)).toContain("does not answer as an Aviary server");
  expect(called.at(-1)?.path).toBe("/close");
});

it("keeps the session of an environment that identifies it by a cookie", async () => {
  const environment = defineResourcesServer({
    session: () => ({ steps: 0 }),
    seedReply: () => ({ env_id: "e1", obs: [state("step 0")], tools: [] }),
    tools: {
      step: {
        input: z.looseObject({}),
        run: ({ session }) => ({
          obs: [state(`step ${++session.steps}`)],
          reward: 0,
          done: session.steps === 2,
        }),
      },
      close: { input: z.looseObject({}), run: () => ({ success: true }) },
    },
    verify: ({ session }) => ({ reward: session.steps }),
  });
  const aviary = await createTestServer(environment, { name: "aviary" });
  const server = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "aviary" },
      model_server: { type: "responses_api_models", name: "model" },
    },
    servers: { aviary: aviary.app, model: () => verifyBody({}, go).response },
  });
  const { body } = await server.post("/run", { responses_create_params: { input: [] } });
  await server.close();
  await aviary.close();
  expect(body.reward).toBe(2);
});
