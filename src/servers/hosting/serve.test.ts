import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../../base/logger.ts";
import { RunClient } from "../calls/run-client.ts";
import type { AppCall } from "../calls/server-call.ts";
import { type Handler, ServerApp } from "./app.ts";
import { sessionAffinity } from "./processes/workers.ts";
import { RolloutClient, RolloutContext } from "./rollout-attribution.ts";

const { signal } = new AbortController();
const call = (changes: Partial<AppCall> = {}): AppCall => ({
  method: "POST",
  path: "/x",
  body: {},
  cookies: {},
  headers: {},
  signal,
  ...changes,
});

function appOf(post: Record<string, Handler>, parts: object = {}): ServerApp {
  const type = "resources_servers";
  return new ServerApp({
    name: "harbour",
    type,
    className: "Harbour",
    get: {},
    post,
    log: silentLogger,
    ...parts,
  });
}

describe("ServerApp", () => {
  it.each<[string, () => unknown]>([
    ["an object without a form", () => Object.create(null)],
    [
      "an error that only looks like one of ours",
      () => Object.assign(new Error("x"), { code: "VALIDATION_FAILED" }),
    ],
    ["a foreign failed call", () => Object.assign(new Error("x"), { code: "SERVER_CALL" })],
  ])("answers when a handler throws %s, synchronously or later", async (_, thrown) => {
    const app = appOf({
      "/x": () => {
        throw thrown();
      },
      "/later": async () => {
        throw thrown();
      },
    });
    const client = new RunClient({ addresses: new Map(), local: new Map([["harbour", app]]) });
    for (const place of ["/x", "/later"]) {
      expect((await app.handle(call({ path: place }))).status).toBe(500);
      expect((await client.post("harbour", place, {}, { timeoutMs: 5_000 })).status).toBe(500);
    }
  });

  it("fails without blocking the caller when a worker cannot forward a body", async () => {
    const socketDirectory = await mkdtemp(path.join(tmpdir(), "serve-"));
    const workers = [0, 1].map((index) =>
      sessionAffinity({ index, count: 2, socketDirectory, mcpSecret: "" }),
    );
    try {
      const apps = workers.map((worker) => {
        const app = appOf({ "/x": () => ({ ok: true }) }, { newSessionId: () => worker.newSessionId() });
        return worker.intercept(app, app);
      });
      for (const worker of workers) await worker.listen();
      const first = await apps[1]?.handle(call());
      const cookies = { ...first?.cookies };
      expect((await apps[0]?.handle(call({ cookies })))?.status).toBe(200);
      const body: unknown = JSON.parse("[".repeat(200_000) + "]".repeat(200_000));
      await expect(apps[0]?.handle(call({ cookies, body }))).rejects.toThrow(RangeError);
    } finally {
      for (const worker of workers) await worker.close();
      await rm(socketDirectory, { recursive: true });
    }
  });

  it("knows the rollout in calls that a handler makes after its deadline", async () => {
    const rollouts = new RolloutContext();
    const local = new Map<string, ServerApp>();
    const run = new RunClient({ addresses: new Map(), local });
    const client = new RolloutClient(run, rollouts, new Map([["harbour", "resources_servers"]]));
    const cleaned: unknown[] = [];
    const app = appOf({
      "/run": async (called) => {
        await client.post("harbour", "/slow", called.rolloutId, { timeoutMs: 20 }).catch(() => {});
        return {};
      },
      "/slow": (called) =>
        new Promise(() => {
          const clean = () => void client.post("harbour", "/clean", called.body);
          called.signal.addEventListener("abort", clean);
        }),
      "/clean": (called) => {
        cleaned.push([called.body, called.rolloutId]);
        return {};
      },
    });
    app.attribute(rollouts);
    local.set("harbour", app);
    await Promise.all(["0-0", "1-0"].map((id) => run.post("harbour", `/ng-rollout/${id}/run`, {})));
    await expect.poll(() => cleaned.length).toBe(2);
    expect(cleaned).toEqual([
      ["0-0", "0-0"],
      ["1-0", "1-0"],
    ]);
  });
});
