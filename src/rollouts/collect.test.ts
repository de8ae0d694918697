import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ServerClient } from "../client/server-client.ts";
import { Collection } from "./collect.ts";
import { JsonlWriter } from "./jsonl-writer.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "collect-"));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(directory, { recursive: true });
});

const at = (name: string) => join(directory, name);

function answering(answer: () => unknown): ServerClient {
  const call = async () => {
    const body = answer();
    return {
      status: 200,
      ok: true,
      cookies: {},
      json: () => body,
      text: () => JSON.stringify(body),
      payload: () => ({ body }),
    };
  };
  return { post: call, get: call, baseUrl: (server) => server };
}

describe("Collection", () => {
  it("measures time with a clock that cannot be set", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-01-01") });
    const output = await JsonlWriter.open(at("o.jsonl"));
    const failures = await JsonlWriter.open(at("f.jsonl"));
    const took: number[] = [];
    const collection = new Collection({
      client: answering(() => {
        vi.setSystemTime(new Date("2020-01-01"));
        return { reward: 1 };
      }),
      rows: (async function* () {
        for (const task of [0, 1])
          yield { row: { agent_ref: { name: "agent" } }, taskIndex: task, rolloutIndex: 0, attempt: 0 };
      })(),
      total: 2,
      alreadyDone: 0,
      output,
      failures,
      limits: { concurrency: 1, maxAttempts: 1, rolloutTimeoutMs: 60_000, runTimeoutMs: 60_000 },
      onOutcome: ({ milliseconds }) => took.push(milliseconds),
    });
    const { progress } = await collection.run();
    await Promise.all([output.close(), failures.close()]);
    for (const milliseconds of took) expect(milliseconds).toBeGreaterThanOrEqual(0);
    expect(took).toHaveLength(2);
    expect(progress.elapsed_seconds).toBeGreaterThan(0);
    expect(progress.elapsed_seconds).toBeLessThan(60);
    expect(progress.rate).toBeGreaterThan(0);
  });
});
