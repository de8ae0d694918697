import { expect, it } from "vitest";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { ProviderError } from "./provider-error.ts";

const down = new ProviderError({ class: "connection", retryable: true, message: "no connection" });
const patient = { giveUpAt: Number.POSITIVE_INFINITY, longestOutageMs: Number.POSITIVE_INFINITY };
const ordinary = { probe: false };

function breaker() {
  const clock = { now: 1_000_000 };
  const events: string[] = [];
  const made = new CircuitBreaker(
    { opened: () => events.push("opened"), closed: (ms) => events.push(`closed after ${ms}`) },
    () => 1,
    () => clock.now,
  );
  return { clock, events, breaker: made };
}

it("opens only after consecutive failures", async () => {
  const { breaker: made } = breaker();
  for (let index = 0; index < 7; index++) made.failed(ordinary, down);
  made.succeeded();
  for (let index = 0; index < 7; index++) made.failed(ordinary, down);
  expect(made.isOpen).toBe(false);
  made.failed(ordinary, down);
  expect(made.isOpen).toBe(true);
});

it("sends one probe per pause and releases all calls when it succeeds", async () => {
  const { breaker: made, clock, events } = breaker();
  for (let index = 0; index < 20; index++) made.failed(ordinary, down);
  expect(made.probeAt - clock.now).toBe(1_000);
  clock.now += 1_000;
  const probe = await made.pass(patient);
  expect(probe).toEqual({ probe: true });
  const waiting = made.pass(patient);
  made.failed(probe ?? ordinary, down);
  expect(made.probeAt - clock.now).toBe(2_000);
  clock.now += 2_000;
  const second = await made.pass(patient);
  expect(second).toEqual({ probe: true });
  made.succeeded();
  expect(await waiting).toEqual(ordinary);
  expect(events).toEqual(["opened", "closed after 3000"]);
});

it("lets the next call probe when a probe ends without an answer", async () => {
  const { breaker: made, clock } = breaker();
  for (let index = 0; index < 8; index++) made.failed(ordinary, down);
  clock.now += 1_000;
  const probe = await made.pass(patient);
  const next = made.pass(patient);
  made.ended(probe ?? ordinary);
  expect(await next).toEqual({ probe: true });
});

it("does not let calls wait for an endpoint that has been down too long", async () => {
  const { breaker: made, clock } = breaker();
  for (let index = 0; index < 8; index++) made.failed(ordinary, down);
  expect(await made.pass({ ...patient, giveUpAt: clock.now })).toBeUndefined();
  clock.now += 999;
  expect(await made.pass({ ...patient, longestOutageMs: 500 })).toBeUndefined();
  expect(made.lastFailure).toBe(down);
});

it("releases a caller that aborts", async () => {
  const { breaker: made } = breaker();
  for (let index = 0; index < 8; index++) made.failed(ordinary, down);
  const controller = new AbortController();
  const waiting = made.pass({ ...patient, signal: controller.signal });
  controller.abort(new Error("gone"));
  await expect(waiting).rejects.toThrow("gone");
});
