import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsMsg } from "@nats-io/jetstream";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { DeliveryWatch } from "../src/run/distributed/references.ts";
import { RunBoard, type RunRecord, type WorkerRecord } from "../src/run/queue/board.ts";
import { type Broker, connectBroker } from "../src/run/queue/broker.ts";
import { JetStreamQueue, type Lease } from "../src/run/queue/jetstream-queue.ts";
import { openRunStream, renewConsumers } from "../src/run/queue/run-stream.ts";
import type { RolloutRef } from "../src/run/queue/subjects.ts";
import { missingBroker, TestBroker } from "./support/broker.ts";
import { freePort } from "./support/free-port.ts";
import { until } from "./support/queue-runs.ts";

const missing = missingBroker();
const RUN = "run1";
const ref = (task: number): RolloutRef => ({
  run: RUN,
  agent: "a",
  task,
  rollout: 0,
  attempt: 0,
  at: task * 100,
});
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

let server: TestBroker;
let broker: Broker;
/** Run after a test, the last first, while the broker still answers. */
const closers: (() => Promise<void>)[] = [];

async function connected(): Promise<Broker> {
  const made = await connectBroker({ url: server.url }, { name: "test" });
  closers.push(() => made.close());
  return made;
}

/** The queue of a worker that records settled rollouts. */
async function consumer(from: Broker, leaseMs: number) {
  const saved: number[] = [];
  const queue = new JetStreamQueue<string>({ broker: from, isFinal: (result) => result === "completed" });
  const store = { save: async ({ task }: RolloutRef) => void saved.push(task) };
  await queue.follow({ run: RUN, agent: "a", weight: 1, leaseMs, store });
  const pull = async (count: number): Promise<Lease<string>[]> => {
    const leases: Lease<string>[] = [];
    const limit = AbortSignal.timeout(5_000);
    while (leases.length < count && !limit.aborted)
      leases.push(...(await queue.pull(count - leases.length, limit)));
    return leases;
  };
  closers.push(() => queue.close());
  return { queue, saved, pull };
}

/** Runs what the worker gets until it has saved this many rollouts. */
async function saveAll({ queue, saved, pull }: Awaited<ReturnType<typeof consumer>>, count: number) {
  const limit = performance.now() + 20_000;
  while (saved.length < count && performance.now() < limit)
    for (const lease of await pull(1)) await queue.settle(lease, "completed");
  expect(new Set(saved).size).toBe(count);
}

/** Ends the broker cleanly and starts it again, with this change of its files. */
async function restart(change: () => void): Promise<void> {
  await server.kill("SIGTERM");
  await until("the end of the connection", () => broker.awayMs() > 0);
  change();
  await server.start();
  await until("the connection", () => broker.awayMs() === 0);
}

/** Replaces the broker with one that has this much storage. */
async function useStorage(bytes: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "nemo-gym-nats-full-"));
  const config = join(directory, "nats.conf");
  writeFileSync(config, `jetstream { max_file_store: ${bytes} }`);
  await server.close();
  server = new TestBroker(await freePort(), { words: ["-c", config] });
  await server.start();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  broker = await connected();
}

/** Publishes more than the storage holds, then consumes all of it. */
async function fillAndTake(refusal: RegExp): Promise<void> {
  const notices: string[] = [];
  const producer = new JetStreamQueue<string>({ broker, onNotice: (text) => notices.push(text) });
  for (let task = 0; task < 400; task++) await producer.enqueue(ref(task));
  await pause(500);
  const { messages } = (await broker.jsm.streams.info(`gym-${RUN}`)).state;
  expect(messages).toBeLessThan(400);
  expect(notices).toEqual([expect.stringMatching(/The queue takes no more .*; waiting for workers/)]);
  expect(notices[0]).toMatch(refusal);
  const worker = await consumer(await connected(), 30_000);
  while (worker.saved.length < 400)
    for (const lease of await worker.pull(1)) await worker.queue.settle(lease, "completed");
  expect(worker.saved.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 400 }, (_, task) => task));
  await producer.close();
}

describe.skipIf(missing !== undefined)("a queue in JetStream", { timeout: 60_000 }, () => {
  beforeEach(async () => {
    server = new TestBroker(await freePort());
    await server.start();
    broker = await connected();
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    await server.close();
  });

  it("waits for space in a full stream and loses nothing", async () => {
    await openRunStream(broker.jsm, {
      run: RUN,
      agents: ["a"],
      leaseMs: 30_000,
      maxDeliver: 5,
      maxMessages: 40,
    });
    await fillAndTake(/maximum messages/);
  });

  it("waits for a broker whose storage is full and loses nothing", async () => {
    await useStorage(20_000);
    await openRunStream(broker.jsm, { run: RUN, agents: ["a"], leaseMs: 30_000, maxDeliver: 5 });
    await fillAndTake(/insufficient resources/);
  });

  it("fails with a typed error if the broker stays full", async () => {
    await useStorage(20_000);
    await openRunStream(broker.jsm, { run: RUN, agents: ["a"], leaseMs: 30_000, maxDeliver: 5 });
    const failures: unknown[] = [];
    const producer = new JetStreamQueue<string>({
      broker,
      patienceMs: 800,
      onFailure: (error) => failures.push(error),
    });
    const enqueueAll = async () => {
      for (let task = 0; task < 2_000; task++) await producer.enqueue(ref(task));
    };
    await expect(enqueueAll()).rejects.toMatchObject({ code: "QUEUE_FULL" });
    expect(failures).toHaveLength(1);
    await producer.close();
  });

  it("ignores a failure of an expired lease, but accepts a success", async () => {
    await openRunStream(broker.jsm, { run: RUN, agents: ["a"], leaseMs: 6_000, maxDeliver: 5 });
    const producer = new JetStreamQueue<string>({ broker });
    await producer.enqueue(ref(0));
    await producer.enqueue(ref(1));
    const frozen = await consumer(await connected(), 6_000);
    const held = await frozen.pull(2);
    expect(held).toHaveLength(2);
    // Longer than its open request for more: a worker that is really frozen receives nothing.
    await pause(6_300);
    const other = await consumer(await connected(), 6_000);
    const again = await other.pull(2);
    for (const { message } of again) expect(message.info.deliveryCount).toBeGreaterThan(1);
    // The frozen worker wakes up and detects with the monotonic clock that it is late.
    await frozen.queue.settle(held[0] as Lease<string>, "failed");
    expect(frozen.saved).toEqual([]);
    await frozen.queue.settle(held[1] as Lease<string>, "completed");
    expect(frozen.saved).toHaveLength(1);
    // Its heartbeats and acknowledgements belong to an old delivery: the other worker keeps the rollouts.
    for (const lease of again) await other.queue.settle(lease, "completed");
    expect(other.saved).toHaveLength(2);
    await producer.close();
  });

  it("gives a consumer one suspect at a time, and counts only deliveries of this one", async () => {
    await openRunStream(broker.jsm, { run: RUN, agents: ["a"], leaseMs: 30_000, maxDeliver: 4 });
    const producer = new JetStreamQueue<string>({ broker });
    for (const task of [0, 1, 2]) await producer.enqueue(ref(task));
    const { queue, saved, pull } = await consumer(await connected(), 30_000);
    for (const deliveries of [1, 2])
      for (const lease of await pull(3)) {
        expect(lease.message.info.deliveryCount).toBe(deliveries);
        await queue.settle(lease, undefined);
      }
    for (const _ of [0, 1, 2]) {
      const suspects = await pull(2);
      expect(suspects.map(({ message }) => message.info.deliveryCount)).toEqual([1]);
      for (const lease of suspects) await queue.settle(lease, "completed");
    }
    expect(saved.toSorted()).toEqual([0, 1, 2]);
    await producer.close();
  });

  it("keeps a reference that consumers return without running it", async () => {
    await openRunStream(broker.jsm, { run: RUN, agents: ["a"], leaseMs: 30_000, maxDeliver: 3 });
    const producer = new JetStreamQueue<string>({ broker });
    await producer.enqueue(ref(0));
    for (let worker = 0; worker < 8; worker++) {
      const { queue, pull } = await consumer(await connected(), 30_000);
      const [lease] = await pull(1);
      expect(lease?.item, `worker ${worker}`).toEqual(ref(0));
      await queue.close();
    }
    const last = await consumer(await connected(), 30_000);
    for (const lease of await last.pull(1)) await last.queue.settle(lease, "completed");
    expect(last.saved).toEqual([0]);
    await producer.close();
  });

  it("delivers new references although a killed broker leases some that it has removed", async () => {
    await openRunStream(broker.jsm, { run: RUN, agents: ["a", "b"], leaseMs: 1_000, maxDeliver: 100 });
    const producer = new JetStreamQueue<string>({ broker });
    const isPublished = () => producer.publishing === 0;
    // Nobody takes the first one: the broker forgets leases that precede all references in the stream.
    await producer.enqueue({ ...ref(0), agent: "b" });
    await until("the first reference", isPublished);
    for (let task = 0; task < 200; task++) await producer.enqueue(ref(task));
    await until("the references", isPublished);
    const taken: JsMsg[] = [];
    const stored = await broker.js.consumers.get(`gym-${RUN}`, "a");
    for await (const message of await stored.fetch({ max_messages: 40 })) taken.push(message);
    // A broker that is killed can have the removals in its files, but not the acknowledgements that caused them.
    const file = join(server.directory, `jetstream/$G/streams/gym-${RUN}/obs/a/o.dat`);
    let leases = Buffer.alloc(0);
    await restart(() => {
      leases = readFileSync(file);
    });
    for (const message of taken) await message.ackAck();
    await restart(() => writeFileSync(file, leases));
    const { num_ack_pending: leased } = await broker.jsm.consumers.info(`gym-${RUN}`, "a");
    expect(leased).toBe(taken.length);
    // The leases expire.
    await pause(3_000);

    const watch = new DeliveryWatch(RUN, broker, false);
    expect(await watch.look(true)).toEqual({ areLost: false, areStuck: false, exhausted: [] });
    await saveAll(await consumer(await connected(), 1_000), 160);
    await producer.close();
  });

  it("delivers everything again from renewed consumers, to workers that are waiting", async () => {
    const settings = { run: RUN, agents: ["a"], leaseMs: 30_000, maxDeliver: 5 };
    expect(await openRunStream(broker.jsm, settings)).toBe(false);
    expect(await openRunStream(broker.jsm, settings)).toBe(true);
    const producer = new JetStreamQueue<string>({ broker });
    for (let task = 0; task < 20; task++) await producer.enqueue(ref(task));
    const lost = await consumer(await connected(), 30_000);
    expect(await lost.pull(20)).toHaveLength(20);
    const waiting = await consumer(await connected(), 30_000);
    const all = saveAll(waiting, 20);
    await until("a request", async () => {
      const { num_waiting: requests } = await broker.jsm.consumers.info(`gym-${RUN}`, "a");
      return requests > 0;
    });
    await renewConsumers(broker.jsm, settings);
    await all;
    await producer.close();
  });

  it("lists runs, workers and spending without leaving anything at the broker", async () => {
    const board = await RunBoard.open(broker);
    const named = async () => (await board.runs()).map(({ run }) => run);
    expect(await named()).toEqual([]);
    await board.putRun({ run: "second", created: "2" } as RunRecord);
    await board.putRun({ run: RUN, created: "1" } as RunRecord);
    await board.putWorker({ worker: "w" } as WorkerRecord);
    await board.removeWorker("w");
    await board.putWorker({ worker: "v" } as WorkerRecord);
    await board.putSpending(RUN, "v", 2);
    await board.putSpending("second", "v", 3);
    for (let time = 0; time < 20; time++) {
      expect(await named()).toEqual([RUN, "second"]);
      expect((await board.workers()).map(({ worker }) => worker)).toEqual(["v"]);
      expect(await board.spending(RUN)).toEqual(new Map([["v", 2]]));
    }
    await board.removeRun(RUN);
    expect(await named()).toEqual(["second"]);
    expect(await board.spending(RUN)).toEqual(new Map());
    expect(await board.spending("second")).toEqual(new Map([["v", 3]]));
    for (const bucket of ["runs", "workers", "spending"]) {
      const { state } = await broker.jsm.streams.info(`KV_gym-${bucket}`);
      expect(state.consumer_count, bucket).toBe(0);
      if (bucket !== "workers") expect(state.messages, bucket).toBe(1);
    }
  });

  it("limits the number of rollouts that a slow consumer holds", async () => {
    await openRunStream(broker.jsm, { run: RUN, agents: ["a"], leaseMs: 30_000, maxDeliver: 5 });
    const producer = new JetStreamQueue<string>({ broker });
    for (let task = 0; task < 2_000; task++) await producer.enqueue(ref(task));
    const slow = await consumer(await connected(), 30_000);
    const held = await slow.pull(4);
    await pause(500);
    // Slots and prefetched rollouts, out of 2,000.
    expect(slow.queue.leases.size).toBeLessThanOrEqual(4 + 4 + 2 * 32);
    const fast = await consumer(await connected(), 30_000);
    let settled = 0;
    while (settled < 1_900)
      for (const lease of await fast.pull(200)) {
        await fast.queue.settle(lease, "completed");
        settled++;
      }
    // Rollouts held by the slow worker are not given to others while its leases last.
    for (const { item } of held) expect(fast.saved).not.toContain(item.task);
    await producer.close();
  });
});
