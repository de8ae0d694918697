import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Broker } from "./broker.ts";
import { JetStreamQueue } from "./jetstream-queue.ts";

const ref = (task: number) => ({ run: "r", agent: "a", task, rollout: 0, attempt: 0, at: 0 });

it("lets all that wait for room continue", async () => {
  const unconfirmed: (() => void)[] = [];
  const publish = () => new Promise<void>((resolve) => unconfirmed.push(resolve));
  const queue = new JetStreamQueue({ broker: { js: { publish } } as unknown as Broker });
  for (let task = 0; task < 512; task++) await queue.enqueue(ref(task));
  const waiting = Promise.all([queue.enqueue(ref(512)), queue.enqueue(ref(513)), queue.enqueue(ref(514))]);
  for (const confirm of unconfirmed.splice(0)) confirm();
  await waiting;
  expect(queue.publishing).toBe(3);
});

it("keeps the references of a feed that is followed twice at the same time", async () => {
  const info = { deliveryCount: 1 };
  const message = { subject: "gym.run.r.a.7.0.0", info, json: () => ({ agent: "a", at: 0 }) };
  /** A consumer whose first request yields a message; further ones yield nothing. */
  const consumer = (messages: object[]) => ({
    fetch: async () => {
      const answer = messages.splice(0);
      return Object.assign(
        (async function* () {
          if (answer.length === 0) await pause(10);
          yield* answer;
        })(),
        { stop: () => {} },
      );
    },
  });
  let release = () => {};
  const second = new Promise<void>((resolve) => {
    release = resolve;
  });
  const consumers = [Promise.resolve(consumer([message])), second.then(() => consumer([]))];
  const get = async () => (await consumers.shift()) ?? consumer([]);
  const queue = new JetStreamQueue<string>({ broker: { js: { consumers: { get } } } as unknown as Broker });
  const feed = { run: "r", agent: "a", weight: 1, leaseMs: 60_000, store: { save: async () => {} } };
  const followed = [queue.follow(feed), queue.follow(feed)];
  while (queue.leases.size === 0) await queue.pull(0, AbortSignal.timeout(10));
  release();
  await Promise.all(followed);
  const leases = await queue.pull(1, AbortSignal.timeout(60_000));
  expect(leases.map(({ item }) => item.task)).toEqual([7]);
});
