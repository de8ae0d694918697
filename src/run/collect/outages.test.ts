import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { JsonlWriter } from "../../records/files/jsonl-writer.ts";
import { RunClient } from "../../servers/calls/run-client.ts";
import { Collection } from "./collect.ts";
import { LocalExecutor } from "./local-executor.ts";

/** An agent that can stop and restart at its address. */
class Agent {
  served = 0;
  #server: Server | undefined;
  #port = 0;

  async up(elsewhere = false): Promise<void> {
    if (elsewhere) this.#port = 0;
    const server = createServer((request, response) => {
      request.resume();
      if (request.method === "POST") this.served++;
      response.end(JSON.stringify({ reward: 1 }));
    });
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async down(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }
}

async function agent(): Promise<Agent> {
  const made = new Agent();
  await made.up();
  onTestFinished(() => made.down());
  return made;
}

async function collecting(agents: Record<string, Agent>, rowsPerAgent: number, longestOutageMs: number) {
  const directory = await mkdtemp(join(tmpdir(), "outages-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const output = await JsonlWriter.open(join(directory, "o.jsonl"));
  const failures = await JsonlWriter.open(join(directory, "f.jsonl"));
  const addresses = new Map(Object.entries(agents).map(([name, { url }]) => [name, url]));
  const client = new RunClient({
    addresses,
    retry: { attempts: 2, wallClockMs: 1_000, baseDelayMs: 10, maxDelayMs: 10 },
  });
  onTestFinished(() => client.close());
  const names = Object.keys(agents);
  const total = rowsPerAgent * names.length;
  const notices: string[] = [];
  const drain = new AbortController();
  const refreshAddresses = async () => {
    for (const [name, { url }] of Object.entries(agents)) addresses.set(name, url);
  };
  const collection = new Collection({
    executor: new LocalExecutor({ client, refreshAddresses }),
    rows: (async function* () {
      for (let task = 0; task < total; task++) {
        const row = { agent_ref: { name: names[task % names.length] } };
        yield { row, taskIndex: task, rolloutIndex: 0, attempt: 0 };
      }
    })(),
    total,
    alreadyDone: 0,
    output,
    failures,
    limits: { concurrency: 4, maxAttempts: 1, rolloutTimeoutMs: null, runTimeoutMs: null, longestOutageMs },
    onNotice: (text) => notices.push(text),
    drain: drain.signal,
  });
  const run = collection.run().finally(() => Promise.all([output.close(), failures.close()]));
  return { collection, run, notices, drain, failed: () => readFile(join(directory, "f.jsonl"), "utf8") };
}

it("waits for an unreachable agent without using attempts", async () => {
  const away = await agent();
  await away.down();
  const { collection, run, notices, failed } = await collecting({ away }, 30, 20_000);
  await expect.poll(() => notices.length, { timeout: 5_000 }).toBe(1);
  expect(notices[0]).toMatch(
    /^away at http.* did not answer \/run.*ECONNREFUSED.*wait until it answers again/,
  );
  await expect.poll(() => collection.snapshot().in_flight).toBe(0);
  const waiting = collection.snapshot();
  expect(waiting).toMatchObject({ done: 0, failed: 0, failures_by_class: {} });
  expect(waiting.retrying).toBeGreaterThan(0);
  expect(waiting.retrying).toBeLessThanOrEqual(4);
  expect(waiting.trouble?.server).toBe("away");
  await away.up();
  const result = await run;
  expect(result).toMatchObject({ completed: 30, failed: 0, stoppedEarly: undefined });
  expect(notices[1]).toMatch(/^away answers again after \d+ s\.$/);
  expect(away.served).toBe(30);
  expect(await failed()).toBe("");
});

it("finds an agent that restarted at another address", async () => {
  const away = await agent();
  const before = away.url;
  await away.down();
  const { run, notices } = await collecting({ away }, 10, 20_000);
  await expect.poll(() => notices.length, { timeout: 5_000 }).toBe(1);
  // Prevents reuse of the old port.
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(Number(new URL(before).port), "127.0.0.1", resolve));
  await away.up(true);
  other.close();
  expect(away.url).not.toBe(before);
  expect(await run).toMatchObject({ completed: 10, failed: 0 });
});

it("continues with the reachable agents", async () => {
  const [here, away] = [await agent(), await agent()];
  await away.down();
  const { run, collection } = await collecting({ away, here }, 20, 20_000);
  await expect.poll(() => here.served, { timeout: 5_000 }).toBe(20);
  expect(collection.snapshot()).toMatchObject({ failed: 0 });
  await away.up();
  expect(await run).toMatchObject({ completed: 40, failed: 0 });
});

it("ends when the agent does not return, and leaves its rows to a resumed run", async () => {
  const away = await agent();
  await away.down();
  const { run, failed } = await collecting({ away }, 30, 300);
  const result = await run;
  expect(result).toMatchObject({ completed: 0, failed: 0 });
  expect(result.stoppedEarly).toMatch(/ECONNREFUSED.*, and it has not come back within 0\.3 s$/);
  expect(await failed()).toBe("");
});

it("ends immediately when stopped while waiting", async () => {
  const away = await agent();
  await away.down();
  const { run, notices, drain } = await collecting({ away }, 30, 60_000);
  await expect.poll(() => notices.length, { timeout: 5_000 }).toBe(1);
  drain.abort();
  expect(await run).toMatchObject({ completed: 0, failed: 0, stoppedEarly: "interrupted" });
});
