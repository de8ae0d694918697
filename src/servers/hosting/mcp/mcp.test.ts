import { describe, expect, it } from "vitest";
import { z } from "zod";
import { HttpError, JudgeError } from "../../../base/server-errors.ts";
import { Reply } from "../../calls/server-call.ts";
import { defineGymnasiumServer, defineResourcesServer } from "../../definitions/define-resources.ts";
import { parseBody } from "../body.ts";
import { modelResponse } from "../response-items.ts";
import { createTestServer, type TestServer } from "../test-server.ts";
import { signMcpToken } from "./mcp-token.ts";

const definition = defineResourcesServer({
  name: "Harbour",
  row: z.looseObject({}),
  session: ({ sessionId }) => ({ sessionId, calls: 0 }),
  tools: {
    add: {
      description: "Adds.",
      input: z.object({ a: z.number(), b: z.number() }),
      run: ({ input, session }) => ({ sum: input.a + input.b, calls: ++session.calls }),
    },
    say: { run: () => "ahoy" },
    list: { run: () => [1, 2] },
    hidden: { expose: false, run: () => ({}) },
    reject: {
      run: () => {
        throw new HttpError(409, "not now");
      },
    },
    crash: {
      run: () => {
        throw new RangeError("bad thing");
      },
    },
    reply: { run: () => new Reply({ status: 418, raw: '{"detail":"teapot"}' }) },
    raw: { run: () => new Reply({ raw: "plain text" }) },
    hang: { run: () => new Promise(() => {}) },
  },
  fallbackTool: {
    list: () => [{ name: "dredge", description: "Digs.", inputSchema: { type: "object" } }],
    run: ({ name, input }) => ({ name, input }),
  },
  allowedTools: (body) => {
    if (body["broken"]) throw new Error("the hook fell over");
    return (body["tools"] as string[] | undefined) ?? null;
  },
  verify: ({ body, response }) => {
    if (body["judge"]) throw new JudgeError("no answer from the judge");
    const names = response.output.flatMap((item) => (item.type === "function_call" ? [item.name] : []));
    return { reward: names.join() === "add,mcp__elsewhere__add,add" ? 1 : 0 };
  },
});

const start = (config: object = {}) =>
  createTestServer(definition, { name: "harbour", config: { expose_tools_over_mcp: true, ...config } });

async function rpc(server: TestServer, method: string, params: object, token?: string, path = "/mcp") {
  const reply = await server.app.handle({
    method: "POST",
    path,
    body: { jsonrpc: "2.0", id: 1, method, params },
    cookies: {},
    headers: token === undefined ? {} : { "x-nemo-gym-session-token": token },
    signal: new AbortController().signal,
  });
  return JSON.parse(reply.raw ?? "null").result;
}
const call = (server: TestServer, name: string, args: object, token?: string) =>
  rpc(server, "tools/call", { name, arguments: args }, token);
const tokenOf = (body: { mcp: { headers: Record<string, string> } }) =>
  body.mcp.headers["X-NeMo-Gym-Session-Token"] ?? "";
const names = (result: { tools: { name: string }[] }) => result.tools.map(({ name }) => name);

describe("tools over MCP", () => {
  it("are listed with schema and description without a token", async () => {
    const server = await start();
    const all = await rpc(server, "tools/list", {});
    expect(names(all)).toEqual(["add", "say", "list", "reject", "crash", "reply", "raw", "hang", "dredge"]);
    expect(all.tools[0]).toMatchObject({ description: "Adds.", inputSchema: { required: ["a", "b"] } });
    expect(all.tools[1].inputSchema).toEqual({ type: "object", additionalProperties: true });
    expect(names(await rpc(server, "tools/list", {}, "forged"))).toHaveLength(9);
  });

  it("run once in the session of the token", async () => {
    const server = await start();
    const token = tokenOf((await server.seed({})).body);
    expect(await call(server, "add", { a: 1, b: 2 }, token)).toEqual({
      content: [{ type: "text", text: '{"sum":3,"calls":1}' }],
      structuredContent: { sum: 3, calls: 1 },
    });
    expect(await call(server, "say", {}, token)).toEqual({ content: [{ type: "text", text: "ahoy" }] });
    expect(await call(server, "list", {}, token)).toEqual({ content: [{ type: "text", text: "[1,2]" }] });
    expect(await call(server, "raw", {}, token)).toEqual({ content: [{ type: "text", text: "plain text" }] });
    expect((await call(server, "dredge", { at: 5 }, token)).structuredContent).toEqual({
      name: "dredge",
      input: { at: 5 },
    });
    expect((await server.tool("add", { a: 0, b: 0 })).body).toEqual({ sum: 0, calls: 2 });
  });

  it.each([
    ["add", { a: "x" }, /^HTTP 422 from POST \/add: \[\{/],
    ["reject", {}, /^HTTP 409 from POST \/reject: not now$/],
    ["crash", {}, /^HTTP 500 from POST \/crash: RangeError\('bad thing'\)$/],
    ["reply", {}, /^HTTP 418 from POST \/reply: \{"detail":"teapot"\}$/],
  ])("report the error of %s", async (name, args, text) => {
    const server = await start();
    const token = tokenOf((await server.seed({})).body);
    const result = await call(server, name, args, token);
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toMatch(text);
  });

  it("have the time limit of tool calls", async () => {
    const server = await createTestServer(definition, {
      name: "harbour",
      config: { expose_tools_over_mcp: true },
      globalConfig: { tool_call_timeout_seconds: 0.05 },
    });
    const token = tokenOf((await server.seed({})).body);
    expect(await call(server, "hang", {}, token)).toEqual({
      isError: true,
      content: [
        {
          type: "text",
          text: "HTTP 504 from POST /hang: the tool did not answer within 0.05 s (tool_call_timeout_seconds)",
        },
      ],
    });
  });

  it("need a token for calls but not for the list", async () => {
    const server = await start();
    const unknown = await call(server, "sink", {});
    expect(unknown).toMatchObject({ isError: true });
    expect(unknown.content[0].text).toBe(
      "Unknown tool 'sink'. Tools: add, crash, dredge, hang, list, raw, reject, reply, say",
    );
    expect((await call(server, "say", {})).content[0].text).toMatch(/header is missing/);
    expect((await call(server, "say", {}, "a.b")).content[0].text).toMatch(/not a valid token/);
    for (const guessed of ["Harbour___other", "Harbour___harbour"]) {
      const forged = signMcpToken(guessed, { sid: "x", tools: null });
      expect((await call(server, "say", {}, forged)).content[0].text).toMatch(/not a valid token/);
    }
  });

  it("can be restricted for a session", async () => {
    const server = await start();
    const token = tokenOf((await server.seed({ tools: ["say"] })).body);
    expect(names(await rpc(server, "tools/list", {}, token))).toEqual(["say"]);
    expect((await call(server, "list", {}, token)).content[0].text).toMatch(/not allowed/);
    expect((await call(server, "say", {}, token)).isError).toBeUndefined();
    const none = tokenOf((await server.seed({ tools: [] })).body);
    expect(names(await rpc(server, "tools/list", {}, none))).toEqual([]);
  });

  it("are also served below /mcp", async () => {
    const server = await start();
    for (const path of ["/mcp/", "/mcp/messages", "/ng-rollout/0-0/mcp"])
      expect(names(await rpc(server, "tools/list", {}, undefined, path))).toHaveLength(9);
    expect((await server.post("/mcpx/y", {})).status).toBe(404);
    expect((await server.get("/mcp")).status).toBe(405);
  });
});

describe("seeding", () => {
  it("fails with its hook and keeps an existing mcp key", async () => {
    const server = await start();
    expect((await server.seed({ broken: true })).status).toBe(500);
    const own = defineResourcesServer({ seedReply: () => ({ mcp: "mine" }), verify: () => ({ reward: 0 }) });
    const other = await createTestServer(own, { config: { expose_tools_over_mcp: true } });
    expect((await other.seed({})).body).toEqual({ mcp: "mine" });
  });

  it("does not mention MCP without the flag", async () => {
    const server = await start({ expose_tools_over_mcp: false });
    expect((await server.seed({})).body).toEqual({});
    expect((await server.post("/mcp", {})).body).toEqual({ name: "mcp", input: {} });
  });
});

describe("verification", () => {
  const item = (name: string, call_id: string) => ({ type: "function_call", call_id, name, arguments: "{}" });
  const row = (more: object = {}) => ({
    responses_create_params: { input: "x" },
    response: modelResponse(
      item("mcp__harbour__add", "c1"),
      item("mcp__elsewhere__add", "c2"),
      item("add", "c3"),
    ),
    ...more,
  });
  const echoed = ["mcp__harbour__add", "mcp__elsewhere__add", "add"];

  it("sees the names of the tools and restores those of the client", async () => {
    const { body } = await (await start()).verify(row());
    expect(body.reward).toBe(1);
    expect(body.response.output.map(({ name }: { name: string }) => name)).toEqual(echoed);
    const plain = await (await start({ expose_tools_over_mcp: false })).verify(row());
    expect(plain.body.reward).toBe(0);
  });

  it("fails as judge_failed with the complete request when the judge is unreachable", async () => {
    const { status, body } = await (await start()).verify(row({ judge: true, extra: 1 }));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      reward: 0,
      _ng_failure_class: "judge_failed",
      _ng_failure_judge_error: "JudgeError: no answer from the judge",
      extra: 1,
      responses_create_params: {
        parallel_tool_calls: true,
        tool_choice: "auto",
        tools: [],
        temperature: null,
      },
      response: { usage: null, incomplete_details: null },
    });
    expect(body.response.output.map(({ name }: { name: string }) => name)).toEqual(echoed);
  });
});

describe("a server that cannot be exposed", () => {
  const verify = () => ({ reward: 0 });
  const rejected = (options: object) =>
    createTestServer(defineResourcesServer({ verify, ...options }), {
      name: "harbour",
      config: { expose_tools_over_mcp: true },
    });
  const list = (...tools: string[]) => ({
    fallbackTool: { list: () => tools.map((name) => ({ name, inputSchema: {} })), run: () => ({}) },
  });

  it.each([
    [
      "a name clients reject",
      { tools: { "two.words": { run: () => ({}) } } },
      /\/two\.words .* letters, digits/,
    ],
    ["a reserved name", list("verify"), /\/verify .* reserved/],
    ["one name twice", list("dig", "dig"), /\/dig .* two tools/],
  ])("is %s", async (_, options, message) => {
    await expect(rejected(options)).rejects.toMatchObject({ code: "MCP_EXPOSURE" });
    await expect(rejected(options)).rejects.toThrow(message);
  });

  it("is an environment without /seed_session and /verify", async () => {
    const gymnasium = defineGymnasiumServer({ reset: () => ({ session: 0 }), step: () => ({}) });
    const started = createTestServer(gymnasium, { config: { expose_tools_over_mcp: true } });
    await expect(started).rejects.toThrow(/cannot expose \/mcp over MCP: the server has no \/seed_session/);
  });

  it.each(["verify", "seed_session", "aggregate_metrics"])(
    "is a tool called %s, flag or not",
    async (name) => {
      const started = createTestServer(
        defineResourcesServer({ verify, tools: { [name]: { run: () => ({}) } } }),
      );
      await expect(started).rejects.toMatchObject({ code: "SERVER_DEFINITION" });
    },
  );
});

describe("messages of JSON-RPC", () => {
  const send = async (body: unknown, path = "/mcp") => {
    const { app } = await start();
    const signal = new AbortController().signal;
    return app.handle({ method: "POST", path, body, cookies: {}, headers: {}, signal });
  };

  it.each([
    [[]],
    [{}],
    [5],
    [null],
    [[1]],
    [{ jsonrpc: "1.0", id: 1, method: "tools/list" }],
    [{ jsonrpc: "2.0", id: 1, method: "tools/list", params: 5 }],
    [{ jsonrpc: "2.0", id: {}, method: "tools/list" }],
  ])("are rejected if they are invalid: %j", async (body) => {
    expect(await send(body)).toMatchObject({
      status: 400,
      body: { jsonrpc: "2.0", error: { code: -32_600 } },
    });
  });

  it("name the rejected request", async () => {
    expect((await send({ id: "q", method: "tools/list" })).body).toMatchObject({ id: "q" });
    expect((await send([])).body).toMatchObject({ id: null });
  });

  it.each([["/mcp"], ["/mcp/"]])("differ from bodies that are not JSON at %s", async (path) => {
    for (const body of [undefined, parseBody("{bad")])
      expect(await send(body, path)).toMatchObject({
        status: 400,
        body: { error: { code: -32_700 }, id: null },
      });
  });

  it("get an empty response to a notification", async () => {
    const reply = await send({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect(reply).toMatchObject({ status: 202, raw: "" });
  });

  it("do not affect other routes", async () => {
    expect((await send(parseBody("{bad"), "/verify")).status).toBe(422);
  });
});
