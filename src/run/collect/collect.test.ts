import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Row } from "../../records/files/jsonl-rows.ts";
import { JsonlWriter } from "../../records/files/jsonl-writer.ts";
import { RunClient } from "../../servers/calls/run-client.ts";
import type { ServerClient } from "../../servers/calls/server-client.ts";
import type { RolloutCaptures } from "../trajectory/captures.ts";
import { Collection } from "./collect.ts";
import type { CollectOptions } from "./collect-contract.ts";
import { LocalExecutor } from "./local-executor.ts";
import { RolloutTally } from "./rollout-tally.ts";

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

const executing = (answer: () => unknown) => new LocalExecutor({ client: answering(answer) });

/** Collects this many rollouts, one after the other. */
async function collecting(
  count: number,
  client: ServerClient,
  { captures, ...changes }: Partial<CollectOptions> & { captures?: RolloutCaptures } = {},
  onStart: (collection: Collection) => void = () => {},
) {
  const output = await JsonlWriter.open(at("o.jsonl"));
  const failures = await JsonlWriter.open(at("f.jsonl"));
  try {
    const collection = new Collection({
      executor: new LocalExecutor({ client, captures }),
      rows: (async function* () {
        for (let task = 0; task < count; task++)
          yield { row: { agent_ref: { name: "agent" } }, taskIndex: task, rolloutIndex: 0, attempt: 0 };
      })(),
      total: count,
      alreadyDone: 0,
      output,
      failures,
      limits: { concurrency: 1, maxAttempts: 1, rolloutTimeoutMs: 60_000, runTimeoutMs: 60_000 },
      ...changes,
    });
    onStart(collection);
    return await collection.run();
  } finally {
    await Promise.all([output.close(), failures.close()]);
  }
}

const broken = (post: () => Promise<never>): ServerClient => ({ ...answering(() => null), post });

it("counts the model calls that only the rows report", async () => {
  const reply = { reward: 1, response: { usage: { ng_model_calls: 3 } } };
  let collection: Collection | undefined;
  await collecting(
    2,
    answering(() => reply),
    {},
    (one) => {
      collection = one;
    },
  );
  expect(collection?.progress.snapshot([], 1, 0).model_calls).toBe(6);
});

it("counts the calls of a rollout once, whoever reports them", async () => {
  const client = answering(() => ({ reward: 1, response: { usage: { ng_model_calls: 2 } } }));
  let collection: Collection | undefined;
  const staged: ServerClient = {
    ...client,
    post: (server, path, body, options) => {
      for (const stage of ["model", "tool", "model"] as const) options?.onStage?.(stage);
      return client.post(server, path, body, options);
    },
  };
  await collecting(2, staged, {}, (one) => {
    collection = one;
  });
  expect(collection?.progress.snapshot([], 1, 0).model_calls).toBe(4);
  const [line = ""] = (await readFile(at("o.jsonl"), "utf8")).split("\n");
  expect(JSON.parse(line)).toMatchObject({ _ng_timing: { model_calls: 2 } });
});

describe("Collection", () => {
  const limits = { concurrency: 1, maxAttempts: 1, rolloutTimeoutMs: 60_000, runTimeoutMs: 60_000 };

  it("starts no rollout when its time is over, and writes nothing about those", async () => {
    const dispatch = { budgetMs: 0, marginMs: null };
    const result = await collecting(
      3,
      answering(() => ({ reward: 1 })),
      { limits: { ...limits, dispatch } },
    );
    expect(result).toMatchObject({
      completed: 0,
      failed: 0,
      cancelled: 0,
      stoppedEarly: expect.stringContaining("dispatch_budget_s"),
    });
    expect(await readFile(at("o.jsonl"), "utf8")).toBe("");
    expect(await readFile(at("f.jsonl"), "utf8")).toBe("");
    const ample = { budgetMs: 600_000, marginMs: 0 };
    const all = await collecting(
      3,
      answering(() => ({ reward: 1 })),
      { limits: { ...limits, dispatch: ample } },
    );
    expect(all).toMatchObject({ completed: 3, stoppedEarly: undefined });
  });

  it("ends at the first failure on request", async () => {
    const failing = answering(() => ({ _ng_failure_class: "agent_error", _ng_failure_message: "no" }));
    const goesOn = await collecting(3, failing);
    expect(goesOn).toMatchObject({ failed: 3, stoppedEarly: undefined });
    const ends = await collecting(3, failing, { limits: { ...limits, endsAtFailure: true } });
    expect(ends).toMatchObject({ failed: 1, stoppedEarly: "no" });
  });

  it("runs no more rollouts at once than are allowed, also with automatic concurrency", async () => {
    let [running, most] = [0, 0];
    const slow: ServerClient = {
      ...answering(() => null),
      post: async (...call) => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return answering(() => ({ reward: 1 })).post(...call);
      },
    };
    await collecting(9, slow, { limits: { ...limits, concurrency: null, largestConcurrency: 3 } });
    expect(most).toBe(3);
  });

  it("never measures a negative duration", async () => {
    const took: number[] = [];
    await collecting(
      300,
      answering(() => ({ reward: 1 })),
      {
        onOutcome: ({ milliseconds }) => took.push(milliseconds),
      },
    );
    expect(took.filter((milliseconds) => milliseconds < 0 || Object.is(milliseconds, -0))).toEqual([]);
    expect(took).toHaveLength(300);
  });

  it("always ends when a step of a rollout throws", async () => {
    const atOnce = () => {
      throw new Error("at once");
    };
    expect(await collecting(2, broken(atOnce))).toMatchObject({ completed: 0, failed: 2 });
    const captures = {
      prepare: async () => {},
      attach: (row: Row) => ({ row }),
    } as unknown as RolloutCaptures;
    expect(await collecting(2, broken(atOnce), { captures })).toMatchObject({ failed: 2 });
    const formless = () => Promise.reject(Object.create(null));
    await expect(collecting(2, broken(formless))).rejects.toThrow("Cannot convert object");
    const retry = { attempts: 1, wallClockMs: null, baseDelayMs: 1, maxDelayMs: 1 };
    const away = new RunClient({ addresses: new Map([["agent", "http://127.0.0.1:9"]]), retry });
    const onNotice = () => {
      throw new Error("nobody reads notices");
    };
    await expect(collecting(2, away, { onNotice })).rejects.toThrow("nobody reads notices");
  });

  it("uses no attempt when the time limit of the run is reached", async () => {
    const limits = { concurrency: 2, maxAttempts: 3, rolloutTimeoutMs: null, runTimeoutMs: 30 };
    const waiting = broken(() => new Promise<never>(() => {}));
    const hears: ServerClient = {
      ...waiting,
      post: (_server, _path, _body, options) =>
        new Promise((_, reject) => {
          options?.signal?.addEventListener("abort", () => reject(options.signal?.reason));
        }),
    };
    expect(await collecting(5, hears, { limits })).toMatchObject({
      completed: 0,
      failed: 0,
      cancelled: 2,
      stoppedEarly: "the run took longer than 0.03 s (run_timeout_seconds)",
    });
    expect(await readFile(at("f.jsonl"), "utf8")).toBe("");
  });

  it("ends when stopped, also while paused, and reports it only if rollouts remain", async () => {
    const drain = new AbortController();
    let collection: Collection | undefined;
    const pausing = answering(() => {
      collection?.pause();
      setTimeout(() => drain.abort(), 10);
      return { reward: 1 };
    });
    const onStart = (started: Collection) => {
      collection = started;
    };
    const left = await collecting(3, pausing, { drain: drain.signal }, onStart);
    expect(left).toMatchObject({ completed: 1, stoppedEarly: "interrupted" });
    const stopping = new AbortController();
    const last = answering(() => {
      stopping.abort();
      return { reward: 1 };
    });
    const done = await collecting(1, last, { drain: stopping.signal });
    expect(done).toMatchObject({ completed: 1, stoppedEarly: undefined });
  });

  it("measures the time of a rollout from its first call", async () => {
    const prepare = () => new Promise<void>((resolve) => setTimeout(resolve, 60));
    const captures = { prepare, attach: (row: Row) => ({ row }) } as unknown as RolloutCaptures;
    const limits = { concurrency: 1, maxAttempts: 1, rolloutTimeoutMs: 30, runTimeoutMs: null };
    const result = await collecting(
      1,
      answering(() => ({ reward: 1 })),
      { captures, limits },
    );
    expect(result).toMatchObject({ completed: 1, failed: 0 });
  });

  it("measures time with the monotonic clock", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-01-01") });
    const output = await JsonlWriter.open(at("o.jsonl"));
    const failures = await JsonlWriter.open(at("f.jsonl"));
    const took: number[] = [];
    const collection = new Collection({
      executor: executing(() => {
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

  it("fails a rollout whose result is not JSON, and continues", async () => {
    const output = await JsonlWriter.open(at("o.jsonl"));
    const failures = await JsonlWriter.open(at("f.jsonl"));
    const replies = [{ reward: 1, odd: 1n }, { reward: 1 }, { _ng_failure_class: "odd", odd: 1n }];
    let next = 0;
    const outcomes: string[] = [];
    const collection = new Collection({
      executor: executing(() => replies[next++]),
      rows: (async function* () {
        for (const task of replies.keys())
          yield { row: { agent_ref: { name: "agent" } }, taskIndex: task, rolloutIndex: 0, attempt: 0 };
      })(),
      total: 3,
      alreadyDone: 0,
      output,
      failures,
      limits: { concurrency: 1, maxAttempts: 3, rolloutTimeoutMs: null, runTimeoutMs: null },
      onOutcome: ({ outcome }) => outcomes.push(outcome.status),
    });
    await collection.run();
    await Promise.all([output.close(), failures.close()]);
    expect(outcomes).toEqual(["failed", "completed", "failed"]);
    const lines = (await readFile(at("f.jsonl"), "utf8")).trim().split("\n");
    for (const line of lines)
      expect(JSON.parse(line)._ng_failure).toMatchObject({
        class: "verifier_error",
        retryable: false,
        message: expect.stringContaining("the result is not JSON: Do not know how to serialize a BigInt"),
      });
    expect(lines).toHaveLength(2);
  });

  it("counts resumable failures, and names the lines of rejected rows", async () => {
    const output = await JsonlWriter.open(at("o.jsonl"));
    const failures = await JsonlWriter.open(at("f.jsonl"));
    const replies = [
      { _ng_failure_class: "invalid_row" },
      { _ng_failure_class: "agent_error", _ng_failure_terminal: true },
      { _ng_failure_class: "judge_failed", _ng_no_persist: true },
      { _ng_failure_class: "verifier_error" },
      { _ng_failure_class: "provider_rate_limit" },
    ];
    let next = 0;
    const collection = new Collection({
      executor: executing(() => replies[next++]),
      rows: (async function* () {
        for (const task of replies.keys())
          yield { row: {}, taskIndex: task, rolloutIndex: 0, attempt: 0, line: task + 1 };
      })(),
      total: 10,
      alreadyDone: 2,
      alreadyLost: { terminal: 1, outOfAttempts: 2 },
      output,
      failures,
      limits: { concurrency: 1, maxAttempts: 1, rolloutTimeoutMs: null, runTimeoutMs: null },
    });
    const result = await collection.run();
    await Promise.all([output.close(), failures.close()]);
    expect(result).toMatchObject({ completed: 0, failed: 5, resumable: 2, outOfAttempts: 3, maxAttempts: 1 });
    expect(result.progress).toMatchObject({ total: 10, done: 10, completed: 2, failed: 8 });
    expect(result.progress.failure_rows).toMatchObject({
      invalid_row: [{ task_index: 0, rollout_index: 0, line: 1 }],
      judge_failed: [{ task_index: 2 }],
    });
  });

  it("shows the progress of all sessions", async () => {
    const output = await JsonlWriter.open(at("o.jsonl"));
    const failures = await JsonlWriter.open(at("f.jsonl"));
    const earlier = new RolloutTally();
    for (const task of [0, 1, 2])
      earlier.add({ reward: 1, response: { usage: { input_tokens: 10, output_tokens: 2 } } }, task, "agent");
    const collection = new Collection({
      executor: executing(() => ({ reward: 0, response: { usage: { input_tokens: 1, output_tokens: 1 } } })),
      rows: (async function* () {
        yield { row: { agent_ref: { name: "agent" } }, taskIndex: 3, rolloutIndex: 0, attempt: 0 };
      })(),
      total: 4,
      alreadyDone: 3,
      earlier,
      output,
      failures,
      limits: { concurrency: 1, maxAttempts: 1, rolloutTimeoutMs: null, runTimeoutMs: null },
    });
    expect(collection.snapshot()).toMatchObject({ done: 3, mean_reward: 1, input_tokens: 30 });
    const { progress, completed } = await collection.run();
    await Promise.all([output.close(), failures.close()]);
    expect(completed).toBe(1);
    expect(progress).toMatchObject({ done: 4, completed: 4, mean_reward: 0.75, output_tokens: 7 });
    expect(progress.by_agent).toEqual({ agent: { done: 4, mean_reward: 0.75 } });
  });
});
