import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createTestServer,
  functionCallItem,
  functionCallOutputItem,
  messageItem,
  modelResponse,
} from "nemo-gym/testing";
import { afterEach, expect, it } from "vitest";
import definition from "./app.ts";
import { SampledWarnings } from "./sampled-warnings.ts";

const services: Server[] = [];
afterEach(() => {
  for (const service of services.splice(0)) service.closeAllConnections();
});

type Script = (
  body: { input: unknown[] },
  call: number,
  request: IncomingMessage,
) => { status?: number; body?: unknown } | undefined;

async function service(script: Script): Promise<{ url: string; calls: () => number }> {
  let calls = 0;
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      const answer = script(JSON.parse(text), calls++, request);
      if (!answer) return;
      response.writeHead(answer.status ?? 200, {
        "content-type": "application/json",
        "set-cookie": `turn=${calls}; path=/`,
        ...(answer.status === 302 && { location: "http://elsewhere/" }),
      });
      response.end(JSON.stringify(answer.body ?? {}));
    });
  });
  services.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent/`, calls: () => calls };
}

const answer = (output: unknown[]) => ({
  body: modelResponse(...output),
});

async function run(url: string, config: object = {}) {
  const tools: string[] = [];
  const server = await createTestServer(definition, {
    config: {
      agent_base_url: url,
      resources_server: { type: "resources_servers", name: "tools" },
      ...config,
    },
    servers: {
      tools: (path, body) => {
        if (path === "/seed_session") return {};
        if (path === "/verify") return { ...(body as object), reward: 1 };
        tools.push(path);
        return { ok: true };
      },
    },
  });
  const { body, status } = await server.post("/run", {
    responses_create_params: { input: "Hi." },
    reward: 9,
    _ng_failure_class: "old",
  });
  await server.close();
  return { body, status, tools };
}

it("runs the open calls of the service, and sends its cookies only to the service", async () => {
  const cookies: (string | undefined)[] = [];
  const remote = await service((_body, call, request) => {
    cookies.push(request.headers.cookie);
    if (call > 0) return answer([messageItem("done")]);
    return answer([
      functionCallItem("own", {}, "c1"),
      functionCallOutputItem("mine", "c1"),
      functionCallItem("gym", { a: 1 }, "c2"),
      functionCallItem("gym", { a: 2 }, "c2"),
    ]);
  });
  const { body, tools } = await run(remote.url);
  expect(tools).toEqual(["/gym"]);
  expect(cookies).toEqual([undefined, "turn=1"]);
  expect(body.reward).toBe(1);
  expect(body._ng_failure_class).toBeUndefined();
});

it("ends a rollout whose service returns nothing", async () => {
  const remote = await service(() => answer([]));
  const { body } = await run(remote.url, { max_empty_turns: 3 });
  expect(remote.calls()).toBe(3);
  expect(body).toMatchObject({ reward: 1, response: { status: "incomplete" } });
  expect(body.response.metadata.ng_termination_message).toContain("3 times in a row");
});

it.each([
  ["an error status", () => ({ status: 503, body: { error: "busy" } }), /503 from http/, undefined],
  ["a redirect", () => ({ status: 302 }), /302 from http.*redirects to http:\/\/elsewhere/, undefined],
  ["a list", () => ({ body: [] }), /did not answer with a JSON object/, undefined],
  ["an answer that is not a Response", () => ({ body: { hello: 1 } }), /Field required/, true],
] as const)("converts %s to a typed failure", async (_, script, message, terminal) => {
  const remote = await service(script as Script);
  const { body, status } = await run(remote.url);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    reward: 0,
    _ng_failure_class: "remote_agent_error",
    response: {
      id: "remote_agent_failure",
      output: [{ role: "assistant", content: [{ text: "" }] }],
    },
  });
  expect(body.error).toMatch(message);
  expect(body._ng_failure_terminal).toBe(terminal);
  expect(remote.calls()).toBe(1);
});

it("fails if the service does not answer or cannot be reached", async () => {
  const silent = await service(() => undefined);
  const { body } = await run(silent.url, { remote_responses_timeout_secs: 0.1 });
  expect(body.error).toContain("did not answer within 0.1 s");
  const whole = await run(silent.url, { run_timeout_secs: 0.1 });
  expect(whole.body.error).toContain("the run took longer than 0.1 s");
  const gone = await run("http://127.0.0.1:9");
  expect(gone.body.error).toContain("cannot be reached");
});

it("stops the loop of the service at the time limit of the rollout", async () => {
  const remote = await service(() => answer([functionCallItem("gym")]));
  const { body } = await run(remote.url, { run_timeout_secs: 0.2 });
  expect(body.error).toContain("the run took longer than 0.2 s");
  const calls = remote.calls();
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(remote.calls()).toBeLessThanOrEqual(calls + 1);
});

it("continues after a user message, and runs the last of several calls with the same id", async () => {
  const user = { type: "message", role: "user", content: "again" };
  const remote = await service((_body, call) => {
    if (call === 0)
      return answer([
        functionCallItem("first", {}, "c1"),
        functionCallItem("second", {}, "c2"),
        functionCallItem("third", {}, "c1"),
      ]);
    return answer(call === 1 ? [user] : [messageItem("done")]);
  });
  const { tools } = await run(remote.url);
  expect(tools).toEqual(["/third", "/second"]);
  expect(remote.calls()).toBe(3);
});

it("logs the first five failures and then every hundredth", () => {
  const told: string[] = [];
  const warnings = new SampledWarnings();
  for (let count = 0; count < 250; count++)
    warnings.tell("x", "oh", { warn: (text) => void told.push(text) });
  expect(told).toEqual([
    "oh",
    "oh (no. 2)",
    "oh (no. 3)",
    "oh (no. 4)",
    "oh (no. 5)",
    "oh (no. 100)",
    "oh (no. 200)",
  ]);
});

it.each([
  ["ftp://x", /must be an absolute http/],
  ["not a url", /must be an absolute http/],
  ["http://user:pw@host", /must not hold credentials/],
  ["http://host/?q=1", /must not have a query/],
  ["http://host/?", /must not have a query/],
  ["http://host/#", /must not have a query/],
])("refuses the address %s without repeating it", async (url, message) => {
  const config = { agent_base_url: url, resources_server: { type: "resources_servers", name: "t" } };
  const refused = createTestServer(definition, { config });
  await expect(refused).rejects.toThrow(message);
  await expect(refused).rejects.not.toThrow(/user:pw/);
});
