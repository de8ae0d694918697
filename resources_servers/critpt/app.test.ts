import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import app from "./app.ts";

let replies: { status: number; body: object }[] = [];
let keys: unknown[] = [];
let bodies: { submissions: { problem_id: string; generated_code: string }[] }[] = [];
const service = createServer((request, response) => {
  let text = "";
  request.on("data", (chunk) => {
    text += chunk;
  });
  request.on("end", () => {
    keys.push(request.headers["x-api-key"]);
    bodies.push(JSON.parse(text));
    const { status, body } = replies.shift() ?? { status: 500, body: {} };
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
});

beforeEach(async () => {
  [replies, keys, bodies] = [[], [], []];
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
});
afterEach(() => new Promise((resolve) => service.close(resolve)));

const start = (config: object) =>
  createTestServer(app, {
    config: {
      api_url: `http://127.0.0.1:${(service.address() as AddressInfo).port}/evaluate`,
      api_key: ["first", "second"],
      api_retry_backoff_seconds: 0,
      batch_size: 2,
      ...config,
    },
  });
const body = (problem_id: string, text: string) => verifyBody({ problem_id }, messageItem(text));

it("gives both rollouts of a batch its accuracy, with the next key when one is limited", async () => {
  replies = [
    { status: 429, body: {} },
    { status: 502, body: {} },
    { status: 200, body: { accuracy: 0.25 } },
  ];
  const server = await start({});
  const verified = await Promise.all([
    server.verify(body("a", "So:\n```python\nx = 1\n```")),
    server.verify(body("b", "no code")),
  ]);
  expect(verified.map((reply) => reply.body)).toMatchObject([
    { reward: 0.25, problem_id: "a", timeout_rate: 0 },
    { reward: 0.25, problem_id: "b" },
  ]);
  expect(keys).toEqual(["first", "second", "second"]);
  expect(bodies[0]?.submissions).toMatchObject([
    { generated_code: "```python\nx = 1\n```" },
    { generated_code: "```python\nno code\n```" },
  ]);
  await server.close();
});

it("fails rollouts without a score when the service does", async () => {
  replies = [{ status: 403, body: { error: "wrong key" } }];
  const directory = mkdtempSync(path.join(tmpdir(), "critpt-"));
  const server = await start({ batch_size: 1, cache_dir: directory, unique_cache_per_run: false });
  const reply = await server.verify(body("a", "x"));
  expect(reply.status).toBe(500);
  expect(JSON.stringify(reply.body)).toContain("403");
  expect(
    JSON.parse(readFileSync(path.join(directory, "submissions.jsonl"), "utf8")).submissions,
  ).toHaveLength(1);
  rmSync(directory, { recursive: true });
  await server.close();
});

it("fails a rollout whose batch stays incomplete, and keeps its submission", async () => {
  const server = await start({ verify_timeout_seconds: 0.05 });
  const reply = await server.verify(body("a", "x"));
  expect(JSON.stringify(reply.body)).toContain("--concurrency");
  expect((await server.post("/status", {})).body).toEqual({ pending_batches: [1], batch_size: 2 });
  expect(bodies).toEqual([]);
  await server.close();
});

it("fills an early batch up", async () => {
  replies = [{ status: 200, body: { accuracy: 1, timeout_rate: 0.5 } }];
  const server = await start({ batch_size: 3, fire_after: 1 });
  expect((await server.verify(body("Challenge_1_main", "x"))).body).toMatchObject({
    reward: 1,
    timeout_rate: 0.5,
  });
  expect(bodies[0]?.submissions.map(({ problem_id }) => problem_id)).toEqual([
    "Challenge_1_main",
    "Challenge_2_main",
    "Challenge_3_main",
  ]);
  await server.close();
});

it("does not start without a key", async () => {
  await expect(start({ api_key: [" "] })).rejects.toThrow(/ARTIFICIAL_ANALYSIS_API_KEY/);
  await expect(start({ api_key: null })).rejects.toThrow(/ARTIFICIAL_ANALYSIS_API_KEY/);
});
