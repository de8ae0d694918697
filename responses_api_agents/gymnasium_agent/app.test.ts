import { createTestServer, functionCallItem, messageItem, modelResponse } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const answer = (output: unknown[]) => ({
  ...modelResponse(...output),
  usage: {
    input_tokens: 2,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 3,
  },
});

async function run(options: {
  reset?: object;
  steps: object[];
  turns?: unknown[][];
  config?: object;
  close?: () => unknown;
}) {
  const bodies: [string, Record<string, unknown>][] = [];
  const asked: { input: unknown[] }[] = [];
  let step = 0;
  const server = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "world" },
      model_server: { type: "responses_api_models", name: "model" },
      ...options.config,
    },
    servers: {
      model: (_path, body) => {
        asked.push(body as { input: unknown[] });
        return answer(options.turns?.[asked.length - 1] ?? [messageItem(`turn ${asked.length}`)]);
      },
      world: (path, body) => {
        bodies.push([path, body as Record<string, unknown>]);
        if (path === "/reset") return options.reset ?? { observation: null, info: {} };
        if (path === "/close") return options.close?.() ?? {};
        return options.steps[step++];
      },
    },
  });
  const reply = await server.post("/run", { responses_create_params: { input: "Go." }, level: 3 });
  await server.close();
  return { reply, body: reply.body, bodies, asked };
}

describe("an episode", () => {
  it("appends the observations of the environment and sums its rewards", async () => {
    const { body, asked, bodies } = await run({
      reset: { observation: "You stand in a hall.", info: {} },
      steps: [
        { observation: "A door.", reward: 0.25, terminated: false, truncated: false, info: {} },
        { observation: null, reward: 1, terminated: true, truncated: false, info: { won: true } },
      ],
    });
    expect(body).toMatchObject({ reward: 1.25, terminated: true, truncated: false, info: { won: true } });
    expect(asked[0]?.input).toHaveLength(2);
    expect(asked[1]?.input).toHaveLength(4);
    expect(body.responses_create_params.input).toEqual([
      { role: "user", content: "Go.", type: "message" },
      { role: "user", content: "You stand in a hall.", type: "message" },
    ]);
    expect(body.response.output.map((item: { role?: string }) => item.role)).toEqual([
      "assistant",
      "user",
      "assistant",
    ]);
    expect(body.response.usage.total_tokens).toBe(6);
    expect(bodies.map(([path, sent]) => [path, sent["level"]])).toEqual([
      ["/reset", 3],
      ["/step", 3],
      ["/step", 3],
    ]);
    expect(body.level).toBeUndefined();
  });

  it("ends with the reward it has when the environment cannot read an answer", async () => {
    const error = { class: "malformed_answer", retryable: false, message: "No move." };
    const { body } = await run({
      steps: [
        { observation: "A door.", reward: 0.25 },
        { status: 400, body: { detail: "No move.", error } },
      ],
    });
    expect(body).toMatchObject({
      reward: 0.25,
      terminated: false,
      truncated: true,
      info: { malformed_answer: "No move." },
    });
  });

  it("answers tool calls through the environment and ignores an empty observation", async () => {
    const { asked } = await run({
      steps: [
        { observation: "", reward: 0, info: { tool_outputs: [{ call_id: "c1", output: "42" }] } },
        { reward: 0, terminated: true },
      ],
      turns: [[functionCallItem("dig", {}, "c1")]],
    });
    expect(asked[1]?.input.at(-1)).toMatchObject({
      type: "function_call_output",
      call_id: "c1",
      output: "42",
    });
  });

  it("is truncated after max_steps", async () => {
    const { body, asked } = await run({
      steps: Array.from({ length: 9 }, () => ({ observation: "more", reward: 1 })),
      config: { max_steps: 3 },
    });
    expect(asked).toHaveLength(3);
    expect(body).toMatchObject({ reward: 3, terminated: false, truncated: true });
  });
});

describe("clean-up", () => {
  const info = { supports_explicit_close: true, supports_step_idempotency: true };

  it("closes the environment and sends an id with each step", async () => {
    const { bodies } = await run({ reset: { info }, steps: [{ reward: 0, terminated: true }] });
    expect(bodies.map(([path]) => path)).toEqual(["/reset", "/step", "/close"]);
    expect(bodies[1]?.[1]["_ng_step_request_id"]).toMatch(/^[0-9a-f]{32}$/);
  });

  it("closes the environment after a failure too, and only warns if closing fails", async () => {
    const failing = await run({ reset: { info }, steps: [{ status: 500, body: { detail: "broken" } }] });
    expect(failing.reply.status).toBe(500);
    expect(failing.bodies.at(-1)?.[0]).toBe("/close");
    const { body } = await run({
      reset: { info },
      steps: [{ reward: 1, terminated: true }],
      close: () => ({ status: 500, body: { detail: "stuck" } }),
    });
    expect(body.reward).toBe(1);
    expect(body.info.cleanup_warning).toMatchObject({ operation: "close", error_type: "ServerCallError" });
  });

  it("closes the environment after an invalid reply, and names the route", async () => {
    const lost = await run({ reset: { observation: 5, info }, steps: [] });
    expect(lost.reply.status).toBe(502);
    expect(lost.body.detail).toMatch(/world answered \/reset .* at observation/);
    expect(lost.bodies.map(([path]) => path)).toEqual(["/reset", "/close"]);
    const odd = await run({ steps: [{ reward: 0, info: { tool_outputs: [{ call_id: "c1" }] } }] });
    expect(odd.body.detail).toMatch(/info.tool_outputs .* at 0.output/);
    expect(odd.body.error).toMatchObject({ class: "tool_error", stage: "tool", retryable: false });
  });
});

it("forwards model calls, and gets metrics from its environment even with skip_verification", async () => {
  const server = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "world" },
      model_server: { type: "responses_api_models", name: "model" },
      skip_verification: true,
    },
    servers: {
      model: (_path, body) => ({ ...answer([messageItem((body as { input: string }).input)]) }),
      world: (path) => ({ asked: path }),
    },
  });
  const { body } = await server.post("/v1/responses", { input: "echo" });
  expect(body.output[0].content[0].text).toBe("echo");
  const metrics = await server.post("/aggregate_metrics", { verify_responses: [] });
  expect(metrics.body).toEqual({ asked: "/aggregate_metrics" });
});
