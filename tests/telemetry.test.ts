import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { MockModelEndpoint } from "../src/testing/index.ts";
import { project, runGym } from "./gym-process.ts";
import { OtlpReceiver, type ReceivedSpan } from "./support/otlp-receiver.ts";

/** An environment with a tool, whose verifier asks a judge. */
const ENVIRONMENT = `
import { createJudge, defineResourcesServer, judgeConfig } from "nemo-gym";
import { z } from "zod";
export default defineResourcesServer({
  config: z.object(judgeConfig),
  tools: { lookup: { input: z.object({ word: z.string() }), run: ({ input }) => ({ meaning: input.word + "!" }) } },
  verify: async ({ config, server, signal }) => {
    const reply = await createJudge(server, config).ask("PRIVATE-QUESTION-TO-THE-JUDGE", { signal });
    return { reward: reply.text === "yes" ? 1 : 0 };
  },
});
`;

const KEY = "sk-secret-of-the-endpoint-0123456789";

const configOf = (endpoint: MockModelEndpoint, receiver: string, telemetry = "", hosting = "cohosted") => `
hosting: ${hosting}
telemetry: {enabled: true, otlp_endpoint: "${receiver}", otlp_protocol: http/json, span_groups: all, otlp_headers: {x-tenant: tenant-key-42-abcdef}${telemetry}}
policy_model:
  responses_api_models:
    openai_model: {entrypoint: app.ts, openai_base_url: ${endpoint.baseUrl}, openai_api_key: ${KEY}, openai_model: the-model}
words:
  resources_servers:
    words:
      entrypoint: app.ts
      judge_model_server: {type: responses_api_models, name: policy_model}
words_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      resources_server: {type: resources_servers, name: words}
      model_server: {type: responses_api_models, name: policy_model}
`;

const row = {
  responses_create_params: {
    input: [{ role: "user", content: "PRIVATE-QUESTION" }],
    tools: [
      {
        type: "function",
        name: "lookup",
        strict: true,
        parameters: {
          type: "object",
          properties: { word: { type: "string" } },
          required: ["word"],
          additionalProperties: false,
        },
      },
    ],
  },
};

const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of closing.splice(0)) await each.close();
});

/** A model that calls the tool, answers, and agrees as a judge. */
async function startModel(): Promise<MockModelEndpoint> {
  const endpoint = await new MockModelEndpoint({
    answer: ({ body }) => {
      const text = JSON.stringify(body["input"]);
      if (text.includes("TO-THE-JUDGE")) return { text: "yes" };
      if (text.includes("function_call_output")) return { text: "PRIVATE-ANSWER" };
      return { toolCalls: [{ name: "lookup", arguments: { word: "PRIVATE-WORD" } }] };
    },
  }).start();
  closing.push(endpoint);
  return endpoint;
}

async function startReceiver(...options: ConstructorParameters<typeof OtlpReceiver>) {
  const receiver = await new OtlpReceiver(...options).start();
  closing.push(receiver);
  return receiver;
}

async function evalRun(config: string, env: Record<string, string> = {}, rows = 1) {
  const cwd = await project({
    "resources_servers/words/app.ts": ENVIRONMENT,
    "config.yaml": config,
    "in.jsonl": `${Array.from({ length: rows }, () => JSON.stringify(row)).join("\n")}\n`,
  });
  const args = ["eval", "run", "--config", "config.yaml", "-i", "in.jsonl", "-o", "out/run.jsonl"];
  const finished = await runGym(args, { cwd, env });
  const output = async () =>
    (await readFile(path.join(cwd, "out/run.jsonl"), "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { reward: number });
  return { ...finished, output };
}

/** The tree of the spans below one, by name and service. */
function treeOf(spans: readonly ReceivedSpan[], root: ReceivedSpan): unknown {
  const children = spans
    .filter(({ parentSpanId }) => parentSpanId === root.spanId)
    .sort((left, right) => (left.start < right.start ? -1 : 1));
  const name = `${root.service.replace("nemo-gym/", "")}: ${root.name}`;
  return children.length === 0 ? name : { [name]: children.map((child) => treeOf(spans, child)) };
}

describe("a traced run", () => {
  it("gives one tree over four processes for a rollout of two turns with a tool and a judge", async () => {
    const [endpoint, receiver] = [await startModel(), await startReceiver()];
    const run = await evalRun(configOf(endpoint, receiver.url, "", "process"));
    expect(run.exitCode, run.stderr).toBe(0);
    const { spans } = receiver;
    const root = spans.find(({ name }) => name === "gym.rollout") as ReceivedSpan;
    const trace = spans.filter(({ traceId }) => traceId === root.traceId);
    const model = {
      "words_agent: HTTP POST": [
        { "policy_model: POST /v1/responses": ["policy_model: gym.model.responses"] },
      ],
    };
    expect(root.parentSpanId).toBeUndefined();
    expect(treeOf(trace, root)).toEqual({
      "nemo-gym: gym.rollout": [
        {
          "nemo-gym: HTTP POST": [
            {
              "words_agent: POST /run": [
                { "words_agent: HTTP POST": ["words: POST /seed_session"] },
                {
                  "words_agent: gym.agent.responses": [
                    model,
                    {
                      "words_agent: execute_tool lookup": [
                        { "words_agent: HTTP POST": ["words: POST /lookup"] },
                      ],
                    },
                    model,
                  ],
                },
                {
                  "words_agent: HTTP POST": [
                    {
                      "words: POST /verify": [
                        {
                          "words: gym.verify": [
                            {
                              "words: gym.judge": [
                                {
                                  "words: HTTP POST": [
                                    {
                                      "policy_model: POST /v1/responses": [
                                        "policy_model: gym.model.responses",
                                      ],
                                    },
                                  ],
                                },
                              ],
                            },
                          ],
                        },
                      ],
                    },
                  ],
                },
              ],
            },
          ],
        },
      ],
    });
    expect(new Set(trace.map(({ pid }) => pid)).size).toBe(4);
    expect(new Set(trace.map(({ attributes }) => attributes["nemo.gym.rollout.id"]))).toEqual(
      new Set(["0-0"]),
    );
    expect(trace.every(({ start, end }) => start <= end && start >= root.start - 50_000_000n)).toBe(true);
    const job = spans.find(({ name }) => name === "gym.job");
    expect(root.links).toMatchObject([{ traceId: job?.traceId, spanId: job?.spanId }]);

    const calls = trace.filter(({ name }) => name === "gym.model.responses");
    expect(calls[0]?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.response.model": "the-model",
      "gen_ai.response.finish_reasons": ["tool_calls"],
      "gen_ai.usage.input_tokens": 10,
      "gen_ai.usage.output_tokens": 5,
      "server.address": "127.0.0.1",
      "server.port": Number(new URL(endpoint.origin).port),
    });
    // The endpoint can continue the trace too.
    const parent = endpoint.requests.map(({ headers }) => headers["traceparent"]).find(Boolean);
    expect(parent).toBe(`00-${root.traceId}-${calls[0]?.spanId}-01`);

    expect(receiver.metric("gym.rollout.completed_total")).toMatchObject([
      { service: "nemo-gym", value: 1, attributes: { "nemo.gym.rollout.outcome": "completed" } },
    ]);
    expect(receiver.metric("gym.rollout.active")).toMatchObject([{ value: 0 }]);
    const tokens = receiver.metric("gen_ai.client.token.usage");
    expect(tokens.map(({ attributes, value }) => [attributes["gen_ai.token.type"], value])).toEqual(
      expect.arrayContaining([
        ["input", 30],
        ["output", 15],
      ]),
    );
    expect(receiver.metric("gym.verify.success_rate")).toMatchObject([
      { service: "nemo-gym/words", value: 1 },
    ]);

    const everything = receiver.bodies.map(({ body }) => body.toString("utf8")).join("\n");
    expect(everything).not.toMatch(/PRIVATE|sk-secret|tenant-key/);
    expect(receiver.headers[0]).toMatchObject({ "x-tenant": "tenant-key-42-abcdef" });
    expect(run.stderr + run.stdout).not.toContain("tenant-key-42");
  });

  it("exports contents if asked, and no secrets", async () => {
    const [endpoint, receiver] = [await startModel(), await startReceiver()];
    await evalRun(configOf(endpoint, receiver.url, ", capture_contents: true"));
    const call = receiver.spans.find(({ name }) => name === "gym.model.responses");
    expect(JSON.parse(String(call?.attributes["gen_ai.input.messages"]))).toEqual([
      { role: "user", parts: [{ type: "text", content: "PRIVATE-QUESTION" }] },
    ]);
    expect(String(call?.attributes["gen_ai.output.messages"])).toContain("PRIVATE-WORD");
    const tool = receiver.spans.find(({ name }) => name === "execute_tool lookup");
    expect(tool?.attributes["gen_ai.tool.call.result"]).toBe('{"meaning":"PRIVATE-WORD!"}');
    expect(receiver.bodies.map(({ body }) => body.toString("utf8")).join()).not.toContain("sk-secret");
  });

  it("names the class of a failed rollout", async () => {
    const [endpoint, receiver] = [await startModel(), await startReceiver()];
    endpoint.fail({ kind: "status", status: 401, message: "PRIVATE-MESSAGE" });
    for (let count = 0; count < 20; count++) endpoint.fail({ kind: "status", status: 401 });
    await evalRun(configOf(endpoint, receiver.url));
    const failed = receiver.spans.find(({ name }) => name === "gym.rollout");
    expect(failed?.attributes).toMatchObject({
      "nemo.gym.rollout.outcome": "failed",
      "nemo.gym.failure.stage": "model",
      "error.type": "provider_auth",
    });
    expect(failed?.status).toEqual({ code: 2 });
  });
});

describe("a receiver with faults", () => {
  const faults: [string, ConstructorParameters<typeof OtlpReceiver>[0]][] = [
    ["never answers", () => {}],
    ["answers 500", (_, response) => void response.writeHead(500).end("PRIVATE")],
    ["asks for an hour", (_, response) => void response.writeHead(429, { "retry-after": "3600" }).end()],
    ["closes the connection", (request) => void request.socket.destroy()],
    ["answers without end", (_, response) => flood(response)],
    ["redirects", (_, response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end()],
  ];
  it.each(faults)("that %s does not harm the run", async (_name, answer) => {
    const [endpoint, receiver] = [await startModel(), await startReceiver(answer)];
    const run = await evalRun(configOf(endpoint, receiver.url));
    expect(run.exitCode, run.stderr).toBe(0);
    expect((await run.output()).map(({ reward }) => reward)).toEqual([1]);
    expect(receiver.bodies.length).toBeGreaterThan(0);
  });

  it("that does not exist does not harm the run and is reported", async () => {
    const endpoint = await startModel();
    const receiver = await new OtlpReceiver().start();
    const { url } = receiver;
    await receiver.close();
    const run = await evalRun(configOf(endpoint, url));
    expect(run.exitCode, run.stderr).toBe(0);
    expect((await run.output()).map(({ reward }) => reward)).toEqual([1]);
    expect(run.stderr).toMatch(/Telemetry: \d+ spans were dropped/);
  });
});

function flood(response: import("node:http").ServerResponse): void {
  const more = () => {
    while (!response.destroyed && response.write("x".repeat(65_536)));
  };
  response.on("drain", more);
  more();
}
