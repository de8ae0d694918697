import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { defineResourcesServer } from "../definitions/define-resources.ts";
import { modelResponse } from "./response-items.ts";
import { SessionStore } from "./sessions.ts";
import { createTestServer } from "./test-server.ts";

const definition = defineResourcesServer({
  row: z.object({ expected: z.number() }),
  session: () => ({ count: 0 }),
  unseeded: () => ({ count: 0 }),
  tools: {
    add: {
      run: ({ session }) => {
        session.count++;
        return session.count;
      },
    },
  },
  verify: ({ row, session }) => ({ reward: session.count === row.expected ? 1 : 0 }),
});

const scored = {
  expected: 1,
  responses_create_params: { input: "Count." },
  response: modelResponse(),
};

afterEach(() => {
  vi.useRealTimers();
});

describe("sessions with lost state", () => {
  it("fail instead of being scored with a new state: evicted", async () => {
    const server = await createTestServer(definition, { config: { max_sessions: 1 } });
    const [first, second] = [server.newJar(), server.newJar()];
    for (const jar of [first, second]) {
      await server.seed(scored, jar);
      await server.tool("add", {}, jar);
    }
    const lost = { class: "session_lost", retryable: true, message: expect.stringContaining("max_sessions") };
    expect(await server.tool("add", {}, first)).toMatchObject({ status: 409, body: { error: lost } });
    expect(await server.verify(scored, first)).toMatchObject({ status: 409, body: { error: lost } });
    expect((await server.verify(scored, second)).body.reward).toBe(1);
    // A retry seeds the session again.
    await server.seed(scored, first);
    await server.tool("add", {}, first);
    expect((await server.verify(scored, first)).body.reward).toBe(1);
    await server.close();
  });

  it("fail instead of being scored with a new state: expired", async () => {
    const server = await createTestServer(definition, { config: { session_ttl_seconds: 0.1 } });
    await server.seed(scored);
    await sleep(400);
    expect(await server.verify(scored)).toMatchObject({
      status: 409,
      body: { error: { class: "session_lost", message: expect.stringContaining("session_ttl_seconds") } },
    });
    await server.close();
  });
});

it("keeps sessions when the system clock changes", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const store = new SessionStore<number>({ onCloseError: () => undefined });
  store.set("a", 1);
  vi.setSystemTime(Date.now() + 20 * 24 * 3600 * 1000);
  store.sweep();
  expect(store.get("a")).toBe(1);
  store.sweep(performance.now() + 7 * 3600 * 1000);
  expect(store.get("a")).toBeUndefined();
});
