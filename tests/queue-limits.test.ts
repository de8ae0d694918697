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

/** Calls take this long until all workers make them, so that no worker finishes the run alone. */
const SLOW_MS = 500;
const RETRY_AFTER_SECONDS = 8;
/** Within this time, a request to slow down reaches the other workers, also on a busy machine. */
const TOLD_MS = 4_000;

/** A model endpoint that responds after `milliseconds`, and rejects requests on demand. */
async function startEndpoint(rejects: (request: IncomingMessage) => boolean = () => false) {
  const seen = {
    milliseconds: SLOW_MS,
    running: 0,
    peak: 0,
    calls: [] as { at: number; worker: string }[],
  };
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader("content-type", "application/json");
    seen.calls.push({ at: performance.now(), worker: String(request.headers["x-worker"]) });
    if (rejects(request)) {
      response
        .writeHead(429, { "retry-after": String(RETRY_AFTER_SECONDS) })
        .end('{"error":{"message":"slow down"}}');
      return;
    }
    seen.peak = Math.max(seen.peak, ++seen.running);
    setTimeout(() => {
      seen.running--;
      response.end(ANSWER);
    }, seen.milliseconds);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

describe.skipIf(missing !== undefined)("limits of a model endpoint", { timeout: 240_000 }, () => {
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
    const { seen, url } = await startEndpoint();
    const cwd = await rows(400);
    const collector = run(url, cwd, `${MODEL}.max_concurrent_requests=2`);
    for (const name of ["a", "b"]) worker(name, cwd);
    await until("calls of both workers", () => callers(seen.calls).size === 2);
    const third = worker("c", cwd);
    await until("the third worker", () => third.text().includes("Joined run"));
    seen.milliseconds = 50;
    expect(seen.calls.length).toBeLessThan(300);
    expect(await collector.ended, collector.text()).toBe(0);
    expect(sortedLines(join(cwd, "limited.jsonl"))).toHaveLength(400);
    expect(seen.peak).toBe(2);
    // There is no slot for the third.
    expect(callers(seen.calls).size).toBe(2);
  });

  it("pause all workers if the endpoint asks one of them to pause", async () => {
    let rejecting = false;
    const { seen, url } = await startEndpoint(({ headers }) => rejecting && headers["x-worker"] === "a");
    const cwd = await rows(1_000);
    const collector = run(url, cwd);
    for (const name of ["a", "b"]) worker(name, cwd);
    await until("calls of both workers", () => callers(seen.calls).size === 2);
    rejecting = true;
    const before = seen.calls.length;
    await until("a rejected call", () => seen.calls.slice(before).some((call) => call.worker === "a"));
    const refusedAt = seen.calls.slice(before).find((call) => call.worker === "a")?.at ?? 0;
    const endsAt = refusedAt + RETRY_AFTER_SECONDS * 1_000;
    await until("the end of the pause", () => performance.now() > endsAt);
    rejecting = false;
    seen.milliseconds = 100;
    const during = seen.calls.filter(({ at }) => at > refusedAt + TOLD_MS && at < endsAt);
    expect(during).toEqual([]);
    expect(await collector.ended, collector.text()).toBe(0);
    expect(sortedLines(join(cwd, "limited.jsonl"))).toHaveLength(1_000);
    const later = seen.calls.filter(({ at }) => at > endsAt);
    expect(callers(later)).toEqual(new Set(["a", "b"]));
  });
});
