import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import type { ResolvedConfig } from "../config/resolve.ts";
import { checkModelEndpoints, waitSeconds } from "./preflight.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Records its requests and answers each with the status and the body. */
async function endpoint(status: number, body = "", port = 0) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    response.writeHead(status).end(body);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", () => resolve()));
  const address = server.address() as AddressInfo;
  return { asked, port: address.port, url: `http://127.0.0.1:${address.port}` };
}

async function check(own: object, seconds: unknown = 5, heard = () => {}): Promise<string[]> {
  const notices: string[] = [];
  const config = {
    get: () => seconds,
    explain: () => ({ sources: [{ where: "command line", won: true }] }),
    servers: [
      { name: "policy", type: "responses_api_models", implementation: "openai_model", config: own },
      {
        name: "tools",
        type: "resources_servers",
        implementation: "t",
        config: { base_url: "http://127.0.0.1:9" },
      },
    ],
  } as unknown as ResolvedConfig;
  const signal = new AbortController().signal;
  const onNotice = (text: string) => {
    notices.push(text);
    heard();
  };
  await checkModelEndpoints(config, { signal, onNotice });
  return notices;
}

it("calls every base_url once and accepts any response", async () => {
  const [first, second] = [await endpoint(404), await endpoint(500)];
  const notices = await check({
    openai_base_url: `${first.url}/v1/`,
    fallback_base_url: [`${first.url}/v1`, second.url, " "],
    openai_api_key: "k",
  });
  expect(first.asked).toEqual(["/v1/models Bearer k"]);
  expect(second.asked).toEqual(["/ Bearer k"]);
  expect(notices).toEqual([]);
});

it("shows the provider's message about the key", async () => {
  const { url } = await endpoint(401, '{"error":{"message":"Incorrect key."}}');
  expect(await check({ base_url: url })).toEqual(["warning: 401 from 127.0.0.1: Incorrect key."]);
});

it("reports an unknown host and does not wait for it", async () => {
  expect(await check({ base_url: "http://no-such-host.invalid/v1" }, 600)).toEqual([
    expect.stringContaining("'no-such-host.invalid'"),
  ]);
});

it("waits up to the limit and accepts an endpoint that starts late", async () => {
  const { port } = await endpoint(200);
  servers.splice(0).map((server) => server.close());
  const before = performance.now();
  await expect(check({ base_url: `http://127.0.0.1:${port}` }, 0.3)).rejects.toThrow(
    `did not answer:\n  - http://127.0.0.1:${port} (policy.responses_api_models.openai_model.base_url), within 0.3 s: `,
  );
  expect(performance.now() - before).toBeGreaterThan(290);
  const open = () => void endpoint(200, "", port);
  const notices = await check({ base_url: `http://127.0.0.1:${port}` }, 1, open);
  expect(notices).toEqual([expect.stringContaining(`waiting for http://127.0.0.1:${port} (up to 1 s more`)]);
});

it.each([
  ["http://127.0.0.1:9/v1", "default", 30],
  ["http://localhost:9/v1", "default", 30],
  ["http://[::1]:9/v1", "default", 30],
  ["http://127.0.0.1:9/v1", "command line: ++model_endpoint_readiness_timeout_seconds", 600],
  ["http://10.0.0.7:8000/v1", "default", 600],
])("waits for %s, limit from %s, %i s", async (url, where, seconds) => {
  const explanation = { path: "", value: 600, sources: [{ where, value: 600, won: true }] };
  expect(waitSeconds({ get: () => 600, explain: () => explanation }, url)).toBe(seconds);
});

it.each([0, -1])("is skipped with %s", async (seconds) => {
  expect(await check({ base_url: "http://127.0.0.1:9" }, seconds)).toEqual([]);
});

it("never shows the key or control characters", async () => {
  const rude = await endpoint(
    401,
    JSON.stringify({ error: { message: "bad sk-SECRET-abcdef123 \u001b[2J" } }),
  );
  const notices = await check({ openai_base_url: `${rude.url}/v1`, openai_api_key: " sk-SECRET-abcdef123 " });
  expect(rude.asked).toEqual(["/v1/models Bearer sk-SECRET-abcdef123"]);
  expect(notices).toEqual(["warning: 401 from 127.0.0.1: bad **** \\x1b[2J"]);
});

it("does not wait for an invalid request", async () => {
  const there = await endpoint(200);
  expect(await check({ openai_base_url: `${there.url}/v1`, openai_api_key: "sk-1234…" })).toEqual([]);
});
