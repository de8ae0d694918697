import { defineResourcesServer } from "nemo-gym";
import { createTestServer, functionCallItem, messageItem, modelResponse } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const config = {
  resources_server: { type: "resources_servers", name: "tools" },
  model_server: { type: "responses_api_models", name: "model" },
};

const usage = (input: number, cached: number | null = null) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: 1,
  output_tokens_details: { reasoning_tokens: null },
  total_tokens: input + 1,
});

const answer = (output: unknown[], extra: object = {}) => ({
  ...modelResponse(...output),
  id: `resp_${Math.random()}`,
  ...extra,
});

/** Runs the agent with a scripted model and tools that record their calls. */
async function run(
  script: object[],
  options: {
    config?: object;
    globalConfig?: object;
    tool?: (path: string) => unknown;
    verdict?: object;
    path?: string;
    row?: object;
  } = {},
) {
  const asked: { input: unknown[] }[] = [];
  const calls: [string, unknown][] = [];
  const paths: string[] = [];
  const server = await createTestServer(definition, {
    config: { ...config, ...options.config },
    globalConfig: { ...options.globalConfig },
    servers: {
      model: (path, body) => {
        paths.push(path);
        asked.push(body as { input: unknown[] });
        return script[asked.length - 1];
      },
      tools: (prefixed, body) => {
        const path = prefixed.replace(/^\/ng-rollout\/[^/]+/, "");
        if (path === "/seed_session") return {};
        if (path === "/verify") return { ...(body as object), reward: 0.5, ...options.verdict };
        calls.push([path, body]);
        return options.tool?.(path) ?? { ok: path };
      },
    },
  });
  const row = { responses_create_params: { input: "Hello." }, extra: 1, ...options.row };
  const path = options.path ?? "/run";
  const reply = await server.post(path, path === "/run" ? row : row.responses_create_params);
  await server.close();
  return { reply, asked, calls, paths, response: reply.body.response };
}

describe("the loop", () => {
  it("runs calls in order, sends everything back and stops at a message", async () => {
    const first = [functionCallItem("a", { x: 1 }, "c1"), functionCallItem("b", {}, "c2")];
    const { reply, asked, calls, response } = await run([
      answer(first, { usage: usage(10, 4) }),
      answer([messageItem("done")], { usage: usage(20) }),
    ]);
    expect(calls).toEqual([
      ["/a", { x: 1 }],
      ["/b", {}],
    ]);
    expect(asked[1]?.input).toHaveLength(5);
    expect(response.output.map((item: { type: string }) => item.type)).toEqual([
      "function_call",
      "function_call",
      "function_call_output",
      "function_call_output",
      "message",
    ]);
    expect(response.output[2].output).toBe('{"ok":"/a"}');
    expect(response.usage).toMatchObject({
      input_tokens: 30,
      output_tokens: 2,
      input_tokens_details: { cached_tokens: null },
    });
    expect(reply.body).toMatchObject({ reward: 0.5, extra: 1 });
  });

  const thought = { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }] };

  it("ends at a turn with only reasoning", async () => {
    const { asked, response, reply } = await run([answer([thought]), answer([messageItem("so")])]);
    expect(asked).toHaveLength(1);
    expect(response).toMatchObject({
      status: "incomplete",
      metadata: { ng_termination_reason: "incomplete_reasoning" },
    });
    expect(reply.body.reward).toBe(0.5);
  });

  it("continues after a turn with only reasoning if empty turns are allowed", async () => {
    const turns = [answer([thought]), answer([messageItem("so")])];
    const { asked } = await run(turns, { config: { max_empty_turns: 2 } });
    expect(asked).toHaveLength(2);
  });

  it("ends a rollout after too many empty turns, with the reason", async () => {
    const nothing = Array.from({ length: 50 }, () => answer([], { status: "completed" }));
    const { asked, response, reply } = await run(nothing);
    expect(asked).toHaveLength(1);
    expect(response).toMatchObject({ status: "incomplete", incomplete_details: null });
    expect(response.metadata.ng_termination_reason).toBe("empty_output");
    expect(response.metadata.ng_termination_message).toContain("max_empty_turns");
    expect(reply.body.reward).toBe(0.5);
    expect((await run(nothing, { config: { max_empty_turns: 2 } })).asked).toHaveLength(2);
    const late = [...nothing.slice(0, 30), answer([messageItem("so")])];
    expect((await run(late, { config: { max_empty_turns: null } })).asked).toHaveLength(31);
  });

  it("does not run the calls of a truncated turn", async () => {
    const cut = answer([functionCallItem("a")], {
      incomplete_details: { reason: "max_output_tokens" },
      status: "incomplete",
    });
    const { calls, response } = await run([cut]);
    expect(calls).toEqual([]);
    expect(response).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
  });

  it("stops after max_steps and runs the tools of the last step", async () => {
    const always = Array.from({ length: 5 }, () => answer([functionCallItem("a")]));
    const { asked, calls } = await run(always, { config: { max_steps: 2 } });
    expect([asked.length, calls.length]).toEqual([2, 2]);
  });

  it("answers a call whose arguments are not JSON without calling the tool", async () => {
    const { calls, response } = await run([
      answer([functionCallItem("a", "{")]),
      answer([messageItem("oh")]),
    ]);
    expect(calls).toEqual([]);
    expect(response.output[1].output).toBe(
      '{"error": "Invalid tool call arguments: JSONDecodeError(\'Expecting property name enclosed in double quotes: line 1 column 2 (char 1)\')"}',
    );
  });

  it("accepts the same JSON as Python", async () => {
    const { calls } = await run([answer([functionCallItem("a", " [NaN]")]), answer([messageItem("oh")])]);
    expect(calls).toEqual([["/a", [null]]]);
  });

  it("gives the model every answer of a tool, including errors", async () => {
    const { response } = await run([answer([functionCallItem("a")]), answer([messageItem("oh")])], {
      tool: () => ({ status: 422, body: { detail: "no such city" } }),
    });
    expect(response.output[1].output).toBe('{"detail":"no such city"}');
  });
});

it("answers calls of invalid tool names without calling the server", async () => {
  const odd = ["verify", "seed_session", "mcp", "", ".", "..", "a/b", "a?b", "a#b", "a\\b", "\ud800"];
  const { calls, response } = await run([
    answer([...odd, "any text ä"].map((name, index) => functionCallItem(name, {}, `c${index}`))),
    answer([messageItem("oh")]),
  ]);
  expect(calls).toEqual([["/any text ä", {}]]);
  const outputs = response.output.filter(({ type }: { type: string }) => type === "function_call_output");
  expect(outputs.map(({ output }: { output: string }) => output)).toEqual([
    ...odd.map(() => '{"detail":"Not Found"}'),
    '{"ok":"/any text ä"}',
  ]);
});

it("streams its answer if the client requests it", async () => {
  const server = await createTestServer(definition, {
    config,
    servers: { tools: () => ({ temperature: 3 }), model: script() },
  });
  const { status, text } = await server.post("/v1/responses", { input: "Go.", stream: true });
  expect(status).toBe(200);
  const types = [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type);
  expect(types[0]).toBe("response.created");
  expect(types.filter((type) => type === "response.output_item.done")).toHaveLength(3);
  expect(types).toContain("response.output_text.delta");
  expect(types.at(-1)).toBe("response.completed");
  await server.close();

  function script() {
    const turns = [answer([functionCallItem("a")]), answer([messageItem("cold")])];
    return () => turns.shift();
  }
});

describe("failures", () => {
  it("keep the provider's status and message", async () => {
    const message = "401 from api.example.com: bad key";
    const failure = { class: "provider_auth", stage: "model", retryable: false, message };
    const { reply } = await run([{ status: 401, body: { detail: message, error: failure } }]);
    expect(reply).toMatchObject({ status: 401, body: { detail: message, error: failure } });
  });

  it("quote an answer that is not a Response", async () => {
    const { reply } = await run([{ hello: "world" }]);
    expect(reply.status).toBe(502);
    expect(reply.body.error).toMatchObject({ class: "invalid_response", stage: "model", retryable: true });
    expect(reply.body.detail).toContain('{"hello":"world"}');
  });
});

it("skips verification with skip_verification", async () => {
  const { reply } = await run([answer([messageItem("x")])], {
    config: { skip_verification: true, skip_verification_reward: 0.25 },
  });
  expect(reply.body).toMatchObject({ reward: 0.25, verification_skipped: true, extra: 1 });
});

it("refuses a row without responses_create_params and names the field", async () => {
  const server = await createTestServer(definition, { config });
  const reply = await server.post("/run", { responses_create_params: { input: "x", nonsense: 1 } });
  expect(reply.status).toBe(422);
  expect(reply.body.detail[0].loc).toEqual(["body", "responses_create_params", "nonsense"]);
  await server.close();
});

describe("an observed rollout", () => {
  const globalConfig = { observability_enabled: true, model_call_capture_dir: "/nowhere" };
  const thought = { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }] };
  const script = () => [
    answer([thought, functionCallItem("a", {}, "c1"), functionCallItem("b", "{", "c2")], { id: "r1" }),
    answer([messageItem("done")], { id: "" }),
  ];
  const row = { _ng_task_index: 4, _ng_rollout_index: 2 };

  it("has a trajectory with its turns", async () => {
    const { reply, asked, paths } = await run(script(), { globalConfig, row, verdict: { resolved: true } });
    expect(paths).toEqual(["/ng-rollout/4-2/v1/responses", "/ng-rollout/4-2/v1/responses"]);
    expect(reply.body.response).not.toHaveProperty("_ng_trajectory");
    const { ng_trajectory: trajectory } = reply.body;
    expect(trajectory).toMatchObject({ schema_version: "1.0", task_id: "4", rollout_id: "4-2" });
    const call = { model_ref: { type: "responses_api_models", name: "model" }, response_id: "r1" };
    expect(trajectory.invocations).toMatchObject([
      { invocation_id: "root", status: "completed", model_calls: [call] },
    ]);
    expect(trajectory.invocations[0].conversation).toHaveLength(7);
    expect(trajectory.turns).toMatchObject([
      { turn_no: 1, step_count: 2, model_calls: [call], resolved: null, reasoning_content: [thought] },
      { turn_no: 2, step_count: 2, model_calls: [], resolved: true, reasoning_content: null },
    ]);
    expect(trajectory.turns[0].answer).toHaveLength(2);
    expect(trajectory.turns.map((turn: { question: unknown }) => turn.question)).toMatchObject(
      asked.map(({ input }) => input),
    );
    expect(trajectory.tool_calls).toMatchObject([
      { tool_call_id: "c1", status: "completed", error_type: null, timing_source: "executor" },
      { tool_call_id: "c2", status: "failed", error_type: "JSONDecodeError" },
    ]);
    expect(trajectory.gaps).toEqual([
      { code: "model_call_reference_unavailable", invocation_id: "root", detail: "turn:2" },
    ]);
  });

  it("reports that it is incomplete, and a gap if the verdict is missing", async () => {
    const options = { globalConfig, row, config: { max_steps: 1 }, tool: () => ({ status: 500, body: "x" }) };
    const { ng_trajectory: trajectory } = (await run(script(), options)).reply.body;
    expect(trajectory.invocations[0].status).toBe("incomplete");
    expect(trajectory.tool_calls[0]).toMatchObject({ status: "failed", error_type: "http_500" });
    expect(trajectory.gaps).toContainEqual({ code: "resolution_unavailable", invocation_id: "root" });
  });

  it("has a trajectory only if it has an id", async () => {
    expect((await run(script(), { globalConfig })).reply.body).not.toHaveProperty("ng_trajectory");
    const bare = await run(script(), { globalConfig, path: "/v1/responses" });
    expect(bare.reply.body).not.toHaveProperty("_ng_trajectory");
    const named = await run(script(), { globalConfig, path: "/ng-rollout/x/v1/responses" });
    expect(named.reply.body).toHaveProperty("_ng_trajectory");
    expect(named.paths[0]).toBe("/ng-rollout/x/v1/responses");
    const { _ng_task_index: _, ...unnumbered } = row;
    const explicit = await run(script(), { globalConfig, row: { ...unnumbered, _ng_rollout_id: "mine" } });
    expect(explicit.reply.body.ng_trajectory).toMatchObject({ task_id: "unknown", rollout_id: "mine" });
  });
});

describe("cookies", () => {
  const counter = defineResourcesServer({
    session: () => ({ calls: 0 }),
    tools: {
      count: { run: ({ session }) => ({ calls: ++session.calls }) },
      fail: {
        run: () => {
          throw new RangeError("out of range");
        },
      },
    },
    verify: ({ session }) => ({ reward: session.calls }),
  });

  it("keep the session until verification, even if tools throw", async () => {
    const tools = await createTestServer(counter, { name: "tools" });
    const script = [
      answer([functionCallItem("count"), functionCallItem("fail"), functionCallItem("count")]),
      answer([messageItem("done")]),
    ];
    const server = await createTestServer(definition, {
      config,
      servers: { tools: tools.app, model: () => script.shift() },
    });
    const { body } = await server.post("/run", { responses_create_params: { input: "Go." } });
    expect(body.reward).toBe(2);
    expect(body.response.output.slice(3, 6)).toMatchObject([
      { output: '{"calls":1}', id: null, status: null },
      { output: "\"RangeError('out of range')\"" },
      { output: '{"calls":2}' },
    ]);
  });

  it("of resources servers and model servers are set on the answer", async () => {
    const tools = await createTestServer(counter, { name: "tools" });
    const seeded = await tools.seed({});
    const server = await createTestServer(definition, {
      config,
      servers: { tools: tools.app, model: () => answer([messageItem("hi")]) },
    });
    const jar = server.newJar();
    jar.cookies = seeded.cookies;
    const { cookies } = await server.post("/v1/responses", { input: "Hi." }, jar);
    expect(cookies).toMatchObject(seeded.cookies);
  });
});

describe("turns whose tokens drift", () => {
  const tokens = (prompt: number[], generation: number[]) => ({
    prompt_token_ids: prompt,
    generation_token_ids: generation,
    generation_log_probs: generation.map(() => -1),
  });
  const rollout = (secondPrompt: number[], token_drift?: string) =>
    run(
      [
        answer([{ ...functionCallItem("add", {}), ...tokens([1], [2]) }]),
        answer([{ ...messageItem("done"), ...tokens(secondPrompt, [5]) }]),
      ],
      { config: { ...(token_drift && { token_drift }) } },
    );
  const withIds = (response: { output: { generation_token_ids?: unknown }[] }) =>
    response.output.filter((item) => item.generation_token_ids !== undefined).length;

  it("are reported in the result, which has no field without drift", async () => {
    expect((await rollout([1, 2, 3])).reply.body).not.toHaveProperty("_ng_turn_boundaries");
    const { reply, response } = await rollout([1, 9, 3]);
    expect(reply.body).toMatchObject({ reward: 0.5, _ng_turn_boundaries: { extend: 0, fork: 1, lost: 0 } });
    expect(reply.body).not.toHaveProperty("mask_sample");
    expect(withIds(response)).toBe(2);
  });

  it("are masked, truncated or refused by token_drift", async () => {
    const masked = await rollout([1, 9, 3], "mask");
    expect(masked.reply.body).toMatchObject({ mask_sample: true, instance_config: { mask_sample: true } });
    const cut = await rollout([1, 9, 3], "truncate");
    expect(withIds(cut.response)).toBe(1);
    expect(cut.reply.body.reward).toBe(0.5);
    const { reply } = await rollout([1, 9, 3], "strict");
    expect(reply.status).toBe(422);
    expect(reply.body.error).toMatchObject({ class: "token_drift", retryable: false });
  });
});
