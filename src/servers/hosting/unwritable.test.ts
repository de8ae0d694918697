import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAgent } from "../definitions/define-agent.ts";
import { defineGymnasiumServer, defineResourcesServer } from "../definitions/define-resources.ts";
import { isTooDeep, MAX_REPLY_BYTES } from "./body.ts";
import { createTestServer } from "./test-server.ts";

const nested = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`) as unknown;
const cycle: unknown[] = [];
cycle.push(cycle);

const definition = defineResourcesServer({
  row: z.looseObject({}),
  tools: {
    big: { run: () => ({ value: 1n }) },
    cyclic: { run: () => cycle },
    nothing: { run: () => undefined },
    text: { run: () => "say" },
  },
  fallbackTool: { run: () => 2n },
  verify: () => ({ reward: 1 }),
});

describe("the result of a tool", () => {
  it.each([
    ["/big", "TypeError('the result of /big is not JSON: Do not know how to serialize a BigInt')"],
    ["/cyclic", "TypeError('the result of /cyclic is not JSON: Converting circular structure"],
    ["/other", "TypeError('the result of /other is not JSON"],
  ])("that is not JSON is an error of the tool: %s", async (path, told) => {
    const { status, body } = await (await createTestServer(definition)).post(path, {});
    expect(status).toBe(500);
    expect(body).toContain(told);
  });

  it("may be a text or undefined", async () => {
    const server = await createTestServer(definition);
    expect((await server.post("/nothing", {})).text).toBe("null");
    expect((await server.post("/text", {})).text).toBe('"say"');
  });
});

it("a result of verify that is not JSON is a permanent failure", async () => {
  const cyclic = defineResourcesServer({ verify: () => ({ reward: 1, cycle }) });
  const { app } = await createTestServer(cyclic);
  const call = { method: "POST", path: "/verify", body: {}, cookies: {}, headers: {} };
  const reply = app.unwritable(call as never, new TypeError("Converting circular structure"));
  expect(reply).toMatchObject({
    status: 500,
    body: { error: { class: "verifier_error", retryable: false } },
  });
});

it("a response that is too large fails only its own call", async () => {
  const large = defineResourcesServer({
    tools: { large: { run: () => "x".repeat(MAX_REPLY_BYTES) } },
    verify: () => ({ reward: 1 }),
  });
  const { status, body } = await (await createTestServer(large)).post("/large", {});
  expect(status).toBe(500);
  expect(body.error).toMatchObject({ class: "invalid_response", retryable: false });
});

describe("a body that is nested too deeply", () => {
  it("is detected without recursion", () => {
    expect(isTooDeep(nested(900))).toBe(false);
    expect(isTooDeep(nested(200_000))).toBe(true);
    expect(isTooDeep([{ a: nested(1_000) }])).toBe(true);
  });

  it("is rejected with 422 if it does not match the schema", async () => {
    const { app } = await createTestServer(definition);
    const call = { method: "POST", cookies: {}, headers: {}, signal: new AbortController().signal };
    const reply = await app.handle({ ...call, path: "/verify", body: nested(200_000) });
    expect(reply.status).toBe(422);
    expect(JSON.stringify(reply.body)).toContain("nested too deeply to be shown");
  });

  it("is rejected with 422 if it cannot be written to the response", async () => {
    const { app } = await createTestServer(definition);
    const signal = new AbortController().signal;
    const call = { method: "POST", path: "/verify", cookies: {}, headers: {}, signal, body: nested(200_000) };
    expect(app.unwritable(call, new RangeError("Maximum call stack size exceeded"))).toMatchObject({
      status: 422,
      body: { detail: [{ type: "json_invalid", msg: "The body is nested too deeply" }] },
    });
    expect(app.unwritable({ ...call, body: {} }, new RangeError("Maximum")).status).toBe(500);
  });
});

describe("required fields of requests", () => {
  const episode = defineGymnasiumServer({ reset: () => ({ session: {} }), step: () => ({}) });
  const agent = defineAgent({ responses: () => Promise.reject(new Error("not asked")) });
  it.each([
    [definition, "/verify", ["responses_create_params", "response"]],
    [episode, "/reset", ["responses_create_params"]],
    [episode, "/step", ["responses_create_params", "response"]],
    [agent, "/run", ["responses_create_params"]],
    [definition, "/aggregate_metrics", ["verify_responses"]],
  ])("are reported as missing: case %#", async (server, path, fields) => {
    const { status, body } = await (await createTestServer(server)).post(path, { a: 1 });
    expect(status).toBe(422);
    expect(body.detail).toEqual(
      fields.map((field) => ({
        type: "missing",
        loc: ["body", field],
        msg: "Field required",
        input: { a: 1 },
      })),
    );
  });

  it("have the wrong type if they are null", async () => {
    const { body } = await (await createTestServer(definition)).post("/verify", {
      responses_create_params: null,
      response: null,
    });
    expect(body.detail[0].type).toBe("model_attributes_type");
  });

  it("include the body", async () => {
    const { body } = await (await createTestServer(agent)).post("/v1/responses");
    expect(body.detail).toEqual([{ type: "missing", loc: ["body"], msg: "Field required", input: null }]);
  });
});
