import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { missingBroker, TestBroker } from "./support/broker.ts";
import { freePort } from "./support/free-port.ts";
import { rows, sortedLines, startGym, until } from "./support/queue-runs.ts";

const missing = missingBroker();
const MODEL = "++policy_model.responses_api_models.openai_model";
const KEY = "++policy_api_key=k";

let broker: TestBroker;

const message = { type: "message", id: "m", role: "assistant", status: "completed" };
const ANSWER = JSON.stringify({
  id: "r",
  object: "response",
  created_at: 0,
  model: "m",
  output: [{ ...message, content: [{ type: "output_text", text: "B", annotations: [] }] }],
  parallel_tool_calls: true,
  tool_choice: "auto",
  tools: [],
});

/** A model endpoint that responds after a delay, and rejects requests on demand. */
async function startEndpoint(
  milliseconds: number,
  refuses: (request: IncomingMessage) => boolean = () => false,
) {
  const seen = { running: 0, peak: 0, calls: [] as { at: number; worker: string }[] };
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader("content-type", "application/json");
    seen.calls.push({ at: performance.now(), worker: String(request.headers["x-worker"]) });
    if (refuses(request)) {
      response.writeHead(429, { "retry-after": "4" }).end('{"error":{"message":"slow down"}}');
      return;
    }
    seen.peak = Math.max(seen.peak, ++seen.running);
    setTimeout(() => {
      seen.running--;
      response.end(ANSWER);
    }, milliseconds);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

describe.skipIf(missing !== undefined)("limits of a model endpoint", { timeout: 120_000 }, () => {
  beforeEach(async () => {
    broker = new TestBroker(await freePort());
    await broker.start();
  });
  afterEach(() => broker.close());

  const worker = (name: string, cwd: string) =>
    startGym(
      [
        "worker",
        "--queue",
        broker.url,
        "--concurrency",
        "8",
        KEY,
        `${MODEL}.openai_default_headers={x-worker: ${name}}`,
      ],
      cwd,
    );
  const run = (url: string, cwd: string, ...more: string[]) =>
    startGym(
      [
        ...["eval", "run", "--resources-server", "mcqa", "--model-type", "openai_model", "-i", "rows.jsonl"],
        ...["-o", "limited.jsonl", "--queue", broker.url, "--model-url", url, "--model", "m", KEY, ...more],
      ],
      cwd,
    );
  const callers = (calls: readonly { worker: string }[]) => new Set(calls.map((call) => call.worker));

  it("apply to all workers together, even with fewer calls than workers", async () => {
    const { seen, url } = await startEndpoint(50);
    const cwd = await rows(400);
    const collector = run(url, cwd, `${MODEL}.max_concurrent_requests=2`);
    for (const name of ["a", "b", "c"]) worker(name, cwd);
    expect(await collector.ended, collector.text()).toBe(0);
    expect(sortedLines(join(cwd, "limited.jsonl"))).toHaveLength(400);
    expect(seen.peak).toBe(2);
    // There is no slot for the third.
    expect(callers(seen.calls).size).toBe(2);
  });

  it("pause all workers if the endpoint asks one of them to pause", async () => {
    let refusing = false;
    const { seen, url } = await startEndpoint(100, ({ headers }) => refusing && headers["x-worker"] === "a");
    const cwd = await rows(600);
    const collector = run(url, cwd);
    for (const name of ["a", "b"]) worker(name, cwd);
    await until("calls of both workers", () => callers(seen.calls).size === 2);
    refusing = true;
    const before = seen.calls.length;
    await until("a refused call", () => seen.calls.slice(before).some((call) => call.worker === "a"));
    const refusedAt = seen.calls.slice(before).find((call) => call.worker === "a")?.at ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 4_500));
    refusing = false;
    // The message needs a moment; until the four seconds are over nobody makes a call.
    const during = seen.calls.filter(({ at }) => at > refusedAt + 1_500 && at < refusedAt + 4_000);
    expect(during).toEqual([]);
    expect(await collector.ended, collector.text()).toBe(0);
    expect(sortedLines(join(cwd, "limited.jsonl"))).toHaveLength(600);
    const later = seen.calls.filter(({ at }) => at > refusedAt + 4_000);
    expect(callers(later)).toEqual(new Set(["a", "b"]));
  });
});
