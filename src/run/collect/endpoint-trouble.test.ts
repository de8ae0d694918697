import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { JsonlWriter } from "../../records/files/jsonl-writer.ts";
import { ServerCallError } from "../../servers/calls/errors.ts";
import type { ServerClient } from "../../servers/calls/server-client.ts";
import { Collection } from "./collect.ts";
import { CollectionProgress, Trouble } from "./collection-progress.ts";
import { LocalExecutor } from "./local-executor.ts";

async function collect(failureClass: string, succeeds: (call: number) => boolean) {
  const directory = await mkdtemp(join(tmpdir(), "trouble-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const output = await JsonlWriter.open(join(directory, "o.jsonl"));
  const failures = await JsonlWriter.open(join(directory, "f.jsonl"));
  let calls = 0;
  const post = async () => {
    calls++;
    const body = { reward: 1 };
    if (succeeds(calls))
      return {
        status: 200,
        ok: true,
        cookies: {},
        json: () => body,
        text: () => "",
        payload: () => ({ body }),
      };
    const message = "no connection to nowhere";
    throw new ServerCallError("model", 502, {
      class: failureClass,
      stage: "model",
      retryable: true,
      message,
    });
  };
  const client: ServerClient = { post, get: post, baseUrl: (server) => server };
  const rows = (async function* () {
    for (let task = 0; task < 40; task++)
      yield { row: { agent_ref: { name: "agent" } }, taskIndex: task, rolloutIndex: 0, attempt: 0 };
  })();
  const collection = new Collection({
    executor: new LocalExecutor({ client }),
    rows,
    total: 40,
    alreadyDone: 0,
    output,
    failures,
    limits: { concurrency: 1, maxAttempts: 1, rolloutTimeoutMs: null, runTimeoutMs: null },
  });
  const result = await collection.run();
  await Promise.all([output.close(), failures.close()]);
  return { ...result, calls };
}

it.each(["connection", "invalid_response"])("stops when an endpoint returns only %s", async (name) => {
  const { calls, stoppedEarly, progress } = await collect(name, () => false);
  expect(calls).toBe(10);
  expect(stoppedEarly).toBe("no connection to nowhere");
  expect(progress.failure_stages).toEqual({ [name]: "model" });
});

it("continues after one success, and after temporary failures", async () => {
  expect(await collect("connection", (call) => call === 2)).toMatchObject({
    calls: 40,
    stoppedEarly: undefined,
  });
  expect((await collect("provider_rate_limit", () => false)).calls).toBe(40);
});

it("reports the latest warning, its age and count until a rollout completes", () => {
  const trouble = new Trouble();
  expect(trouble.snapshot(0)).toBeNull();
  trouble.warned("model", "500 from host: oops", 1_000);
  trouble.warned("model", "500 from host: again", 5_000);
  expect(trouble.snapshot(31_000)).toEqual({
    server: "model",
    message: "500 from host: again",
    seconds: 30,
    warnings: 2,
  });
  const progress = new CollectionProgress({ total: 1, alreadyDone: 0 });
  progress.warned("model", "500");
  expect(progress.snapshot([], 1, 0).trouble).toMatchObject({ message: "500", warnings: 1 });
  progress.ended(
    { status: "completed", row: { reward: 1 } },
    { taskIndex: 1, rolloutIndex: 0, agent: "agent" },
    false,
  );
  expect(progress.snapshot([], 1, 0).trouble).toBeNull();
});
