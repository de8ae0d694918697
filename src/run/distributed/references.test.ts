import { describe, expect, it } from "vitest";
import type { Broker } from "../queue/broker.ts";
import { DeliveryWatch } from "./references.ts";

const SUBJECT = "gym.run.r.a.0.0.0";

/** A broker with one consumer in a given state. */
function stub() {
  const consumer = { num_pending: 0, num_ack_pending: 0, num_waiting: 0, delivered: { stream_seq: 0 } };
  const state = { messages: 1, subjects: { [SUBJECT]: 1 } };
  const info = { server_id: "first" };
  const message = { subject: SUBJECT, json: () => ({ agent: "a", at: 0 }) };
  const broker = {
    connection: { info, publish: () => {}, flush: async () => {} },
    jsm: {
      consumers: {
        list: async function* () {
          yield { name: "a", ...consumer };
        },
      },
      streams: { info: async () => ({ state }), getMessage: async () => message },
    },
  } as unknown as Broker;
  return { broker, consumer, info };
}

/** The results of this many checks that found anything. */
async function troubles(watch: DeliveryWatch, checks: number) {
  const found: string[] = [];
  for (let check = 0; check < checks; check++) {
    const { areLost, areStuck, exhausted } = await watch.look(true);
    if (areLost) found.push(`${check}: lost`);
    if (areStuck) found.push(`${check}: stuck`);
    if (exhausted.length > 0) found.push(`${check}: exhausted`);
  }
  return found;
}

describe("the watch over deliveries", () => {
  it("finds a consumer that delivers nothing, although it has references and requests", async () => {
    const { broker, consumer } = stub();
    Object.assign(consumer, { num_pending: 5, num_waiting: 1 });
    expect(await troubles(new DeliveryWatch("r", broker, false), 22)).toEqual(["10: stuck", "21: stuck"]);
  });

  it("waits for busy workers, and for a consumer that delivers", async () => {
    const { broker, consumer } = stub();
    const watch = new DeliveryWatch("r", broker, false);
    consumer.num_pending = 5;
    expect(await troubles(watch, 20)).toEqual([]);
    consumer.num_waiting = 1;
    for (let check = 0; check < 20; check++) {
      consumer.delivered.stream_seq++;
      expect(await troubles(watch, 1)).toEqual([]);
    }
  });

  it("gives up references that were delivered too often", async () => {
    const { broker } = stub();
    expect(await troubles(new DeliveryWatch("r", broker, false), 3)).toEqual(["2: exhausted"]);
  });

  it("has references delivered again once, before it gives them up, if the broker was restarted", async () => {
    const { broker, info } = stub();
    const watch = new DeliveryWatch("r", broker, false);
    expect(await troubles(watch, 1)).toEqual([]);
    info.server_id = "second";
    expect(await troubles(watch, 5)).toEqual(["1: stuck", "4: exhausted"]);
    expect(await troubles(new DeliveryWatch("r", broker, true), 6)).toEqual(["2: stuck", "5: exhausted"]);
  });
});
