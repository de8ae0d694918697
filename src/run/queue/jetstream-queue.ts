import { setTimeout as pause } from "node:timers/promises";
import { type Consumer, type ConsumerMessages, JetStreamApiError, type JsMsg } from "@nats-io/jetstream";
import { errorMessage } from "../../base/errors.ts";
import { type Broker, flush } from "./broker.ts";
import { QueueError } from "./errors.ts";
import { FREE_DELIVERIES } from "./run-stream.ts";
import {
  agentToken,
  payloadOf,
  type RolloutRef,
  readRolloutRef,
  streamOf,
  subjectOf,
  suspectSubjectOf,
  suspectToken,
} from "./subjects.ts";

/** Maximum number of references that are published but not yet confirmed by the broker. */
const MAX_PUBLISHING = 512;
const PUBLISH_TIMEOUT_MS = 10_000;
const PAUSE_MS = 500;
/** How long a request for messages stays open at the broker. */
const FETCH_MS = 5_000;
/** Shorter for suspects, because only one agent at a time is asked for them. */
const SUSPECT_FETCH_MS = 1_000;
/** How long a request may stay open here, also if the end of it was lost with a connection. */
const LONGEST_FETCH_MS = 30_000;
/** References pulled beyond the free slots, so that the next rollout starts without delay. */
const AHEAD = 32;
/** Error description when the reference is already queued; the error code is the same as for a full stream. */
const ALREADY_QUEUED = /per subject/i;
const STREAM_FULL = /maximum (messages|bytes)|insufficient (storage|resources)|resource/i;

/** Store for the results of a run. */
export interface ResultStore<Result> {
  /** Resolves when the result is saved. */
  save(ref: RolloutRef, result: Result): Promise<void>;
}

export interface JetStreamQueueOptions<Result> {
  broker: Broker;
  /** Whether a result is still worth saving after its lease expired. */
  isFinal?: (result: Result) => boolean;
  /** How long publishing may fail because the stream is full. Default: no limit. */
  patienceMs?: number;
  /** Receives the error of a reference that could not be published. */
  onFailure?: (error: unknown) => void;
  onNotice?: (text: string) => void;
}

interface Feed<Result> {
  key: string;
  run: string;
  weight: number;
  leaseMs: number;
  consumer: Consumer;
  store: ResultStore<Result>;
  buffer: Lease<Result>[];
  isAsking: boolean;
  /** Whether its rollouts may end this process. */
  isSuspects: boolean;
  /** Whether pulling from the feed is paused. */
  isSuspended: boolean;
  /** The open request for messages. */
  request?: ConsumerMessages;
}

/** A reference that this process holds until it settles it or the lease expires. */
export class Lease<Result> {
  readonly message: JsMsg;
  readonly item: RolloutRef;
  readonly feed: Feed<Result>;
  /** Monotonic time of the last renewal at the broker. */
  renewedAt: number;

  constructor(message: JsMsg, item: RolloutRef, feed: Feed<Result>) {
    this.message = message;
    this.item = item;
    this.feed = feed;
    this.renewedAt = performance.now();
  }
}

/**
 * A queue in NATS JetStream. The broker owns delivery, leases and redelivery; this class publishes references, pulls
 * messages and acknowledges them.
 */
export class JetStreamQueue<Result> {
  readonly #options: JetStreamQueueOptions<Result>;
  readonly #feeds = new Map<string, Feed<Result>>();
  readonly #choice = new WeightedChoice<Feed<Result>>();
  readonly #suspectChoice = new WeightedChoice<Feed<Result>>();
  /** Pulled from the broker and not settled. */
  readonly #held = new Set<Lease<Result>>();
  /** The suspect among them. */
  #suspect: Lease<Result> | undefined;
  #publishing = 0;
  /** Calls of `enqueue` that wait until fewer references are being published. */
  readonly #waiting: (() => void)[] = [];
  #arrived: () => void = () => {};
  #closed = false;
  /** When the stream became full. */
  #fullSince: number | undefined;
  #failure: unknown;

  constructor(options: JetStreamQueueOptions<Result>) {
    this.#options = options;
  }

  /** Leases of this process, including those of buffered references. */
  get leases(): ReadonlySet<Lease<Result>> {
    return this.#held;
  }

  /** Number of references being published. */
  get publishing(): number {
    return this.#publishing;
  }

  /** Adds a reference. Has no effect if the stream still holds it. */
  async enqueue(ref: RolloutRef): Promise<void> {
    while (this.#publishing >= MAX_PUBLISHING && this.#failure === undefined)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#failure !== undefined) throw this.#failure;
    this.#publishing++;
    void this.#publish(ref)
      .catch((error: unknown) => {
        if (this.#failure === undefined) this.#options.onFailure?.(error);
        this.#failure ??= error;
      })
      .finally(() => {
        this.#publishing--;
        for (const resume of this.#waiting.splice(0)) resume();
      });
  }

  async #publish(ref: RolloutRef): Promise<void> {
    const { broker, onNotice, patienceMs = Number.POSITIVE_INFINITY } = this.#options;
    const payload = payloadOf(ref);
    while (!this.#closed && this.#failure === undefined) {
      try {
        await broker.js.publish(subjectOf(ref), payload, { timeout: PUBLISH_TIMEOUT_MS });
        this.#fullSince = undefined;
        return;
      } catch (error) {
        const text = errorMessage(error);
        if (error instanceof JetStreamApiError) {
          if (ALREADY_QUEUED.test(text)) return;
          if (!STREAM_FULL.test(text)) throw error;
          if (this.#fullSince === undefined)
            onNotice?.(`The queue takes no more (${text}); waiting for workers to make room.`);
          this.#fullSince ??= performance.now();
          if (performance.now() - this.#fullSince > patienceMs)
            throw new QueueError(
              "QUEUE_FULL",
              `The broker at ${broker.name} took no more references for ${patienceMs / 1000} s (queue_outage_seconds): ${text}.`,
              { cause: error },
            );
        }
        // Any other error means that the broker is unreachable; publishing again shows whether the reference arrived.
        await pause(PAUSE_MS);
      }
    }
  }

  /** Stops publishing, including references that wait for space. */
  stopPublishing(): void {
    this.#closed = true;
  }

  /** Also pulls references of this agent of this run. */
  async follow(feed: {
    run: string;
    agent: string;
    /** Share of the slots. */
    weight: number;
    leaseMs: number;
    store: ResultStore<Result>;
  }): Promise<void> {
    const { run, agent } = feed;
    for (const token of [agentToken(agent), suspectToken(agent)]) {
      const key = `${run}/${token}`;
      if (this.#feeds.has(key)) continue;
      const consumer = await this.#options.broker.js.consumers.get(streamOf(run), token);
      // A second feed would replace one that may already hold references, which then nobody would run.
      if (this.#feeds.has(key)) continue;
      const isSuspects = token === suspectToken(agent);
      const idle = { buffer: [], isAsking: false, isSuspended: false };
      this.#feeds.set(key, { ...feed, key, consumer, isSuspects, ...idle });
      this.#arrived();
    }
  }

  /** Pauses or resumes pulling from a run; buffered references are kept. */
  suspend(run: string, isSuspended: boolean): void {
    for (const feed of this.#feeds.values()) if (feed.run === run) feed.isSuspended = isSuspended;
    if (!isSuspended) this.#arrived();
  }

  /** Buffers a pulled reference until it can be pulled again. */
  async putBack(lease: Lease<Result>): Promise<void> {
    if (this.#feeds.get(lease.feed.key) === lease.feed) lease.feed.buffer.unshift(lease);
    else await this.giveBack(lease);
  }

  /**
   * Returns a reference that this consumer did not run. The broker stops delivering a reference after `max_deliver`
   * deliveries, rejected ones included, so the reference is acknowledged and published again with a new count. If the
   * consumer dies between the two steps, the collector finds the reference missing and publishes it.
   */
  async giveBack(lease: Lease<Result>): Promise<void> {
    const { broker } = this.#options;
    const { message, item } = lease;
    this.#release(lease);
    try {
      if (!(await message.ackAck({ timeout: PUBLISH_TIMEOUT_MS }))) return;
      await broker.js.publish(message.subject, payloadOf(item), { timeout: PUBLISH_TIMEOUT_MS });
    } catch {
      // The broker is unreachable. Without the acknowledgement the lease expires and the broker delivers again.
    }
  }

  /** Moves a reference to the suspects of its agent. */
  async #suspectOf(lease: Lease<Result>): Promise<void> {
    const { message, item } = lease;
    this.#release(lease);
    try {
      await this.#options.broker.js.publish(suspectSubjectOf(item), payloadOf(item), {
        timeout: PUBLISH_TIMEOUT_MS,
      });
    } catch (error) {
      // If the broker is unreachable, the lease expires and the next worker moves the reference.
      if (!ALREADY_QUEUED.test(errorMessage(error))) return;
    }
    message.ack();
  }

  #release(lease: Lease<Result>): void {
    this.#held.delete(lease);
    if (this.#suspect === lease) this.#suspect = undefined;
  }

  /** Stops pulling from a run and returns buffered references. */
  async unfollow(run: string): Promise<void> {
    for (const [key, feed] of this.#feeds) {
      if (feed.run !== run) continue;
      this.#feeds.delete(key);
      // Otherwise the broker would deliver the returned references to this consumer again.
      feed.request?.stop();
      await Promise.all(feed.buffer.splice(0).map((lease) => this.giveBack(lease)));
    }
  }

  /** Pulls up to `limit` references. Waits until there is one or the signal fires. */
  async pull(limit: number, signal: AbortSignal): Promise<Lease<Result>[]> {
    const wake = () => this.#arrived();
    signal.addEventListener("abort", wake);
    try {
      while (!signal.aborted) {
        this.#ask(limit);
        const taken = this.#take(limit);
        if (taken.length > 0) return taken;
        await new Promise<void>((resolve) => {
          this.#arrived = resolve;
        });
      }
      return [];
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }

  #take(limit: number): Lease<Result>[] {
    const taken: Lease<Result>[] = [];
    while (taken.length < limit) {
      const ready = [...this.#feeds.values()].filter(
        ({ buffer, isSuspended }) => buffer.length > 0 && !isSuspended,
      );
      const lease = this.#choice.next(ready)?.buffer.shift();
      if (!lease) break;
      taken.push(lease);
    }
    return taken;
  }

  /**
   * Requests as many messages as there are free slots, each feed according to its share. Each feed has at most
   * one open request.
   */
  #ask(places: number): void {
    if (this.#closed) return;
    const active = [...this.#feeds.values()].filter(({ isSuspended }) => !isSuspended);
    const feeds = active.filter(({ isSuspects }) => !isSuspects);
    const suspects = active.filter(({ isSuspects }) => isSuspects);
    if (this.#suspect === undefined && !suspects.some(({ isAsking }) => isAsking)) {
      const feed = this.#suspectChoice.next(suspects);
      if (feed) void this.#fetch(feed, 1, SUSPECT_FETCH_MS);
    }
    const weights = feeds.reduce((total, { weight }) => total + weight, 0);
    for (const feed of feeds) {
      const share = Math.ceil((places * feed.weight) / weights) + AHEAD - feed.buffer.length;
      if (!feed.isAsking && feed.buffer.length < AHEAD / 2) void this.#fetch(feed, share, FETCH_MS);
    }
  }

  async #fetch(feed: Feed<Result>, count: number, expires: number): Promise<void> {
    feed.isAsking = true;
    let limit: NodeJS.Timeout | undefined;
    try {
      const messages = await feed.consumer.fetch({ max_messages: count, expires });
      feed.request = messages;
      limit = setTimeout(() => messages.stop(), LONGEST_FETCH_MS).unref();
      if (this.#feeds.get(feed.key) !== feed) messages.stop();
      for await (const message of messages) this.#receive(feed, message);
    } catch {
      // The broker is unreachable, or the run was removed, which the worker learns from the record of the run.
      await pause(PAUSE_MS);
    } finally {
      clearTimeout(limit);
    }
    feed.isAsking = false;
    this.#arrived();
  }

  #receive(feed: Feed<Result>, message: JsMsg): void {
    const ref = readRolloutRef(feed.run, message);
    const lease = new Lease(message, ref, feed);
    this.#held.add(lease);
    if (feed.isSuspects) this.#suspect = lease;
    if (this.#feeds.get(feed.key) !== feed || this.#closed) void this.giveBack(lease);
    else if (!feed.isSuspects && message.info.deliveryCount > FREE_DELIVERIES) void this.#suspectOf(lease);
    else feed.buffer.push(lease);
    this.#arrived();
  }

  /**
   * Renews leases. A lease counts as renewed once the broker has answered after the heartbeat: only then is it known that the
   * heartbeat arrived.
   */
  async heartbeat(leases: Iterable<Lease<Result>>): Promise<void> {
    const now = performance.now();
    const renewed = [...leases];
    for (const { message } of renewed) message.working();
    if (renewed.length === 0) return;
    await flush(this.#options.broker);
    for (const lease of renewed) lease.renewedAt = now;
  }

  /** Ends a lease. Saves a result before it removes the reference; without a result the reference is redelivered. */
  async settle(lease: Lease<Result>, result: Result | undefined): Promise<void> {
    const { isFinal } = this.#options;
    if (result === undefined) {
      this.#release(lease);
      lease.message.nak();
      return;
    }
    const isLate = performance.now() - lease.renewedAt > lease.feed.leaseMs;
    // Another worker has the rollout now. A failure of this worker, possibly because it was disconnected, is not
    // relevant.
    if (isLate && !isFinal?.(result)) {
      this.#release(lease);
      return;
    }
    try {
      await lease.feed.store.save(lease.item, result);
      lease.message.ack();
    } finally {
      this.#release(lease);
    }
  }

  /** Removes a reference whose rollout already has a result. */
  drop(lease: Lease<Result>): void {
    this.#release(lease);
    lease.message.ack();
  }

  /** Returns all references that are held. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#arrived();
    for (const { request } of this.#feeds.values()) request?.stop();
    await Promise.all([...this.#held].map((lease) => this.giveBack(lease)));
  }
}

/** Smooth weighted round robin: over time each candidate is chosen in proportion to its weight, evenly spread. */
class WeightedChoice<T extends { weight: number }> {
  readonly #credit = new WeakMap<T, number>();

  next(candidates: readonly T[]): T | undefined {
    let best: T | undefined;
    let most = Number.NEGATIVE_INFINITY;
    let total = 0;
    for (const candidate of candidates) {
      total += candidate.weight;
      const credit = (this.#credit.get(candidate) ?? 0) + candidate.weight;
      this.#credit.set(candidate, credit);
      if (credit <= most) continue;
      most = credit;
      best = candidate;
    }
    if (best) this.#credit.set(best, most - total);
    return best;
  }
}
