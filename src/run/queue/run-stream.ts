import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import { type Broker, flush } from "./broker.ts";
import {
  agentToken,
  type RolloutRef,
  readRolloutRef,
  streamOf,
  subjectOf,
  subjectsOfRun,
  subjectsOfToken,
  suspectSubjectOf,
  suspectToken,
} from "./subjects.ts";

const NANOSECONDS = 1_000_000;
/** Maximum number of references of one run in the stream; the producer waits while it is full. */
const MAX_MESSAGES = 2_000_000;
const STREAM_NOT_FOUND = 10_059;
const CONSUMER_NOT_FOUND = 10_014;
const CONSUMER_EXISTS = new Set([10_013, 10_148]);
/**
 * A rollout that was delivered more often than this may be what ends the workers that take it: it is a suspect. Each worker
 * takes one suspect at a time, so that other rollouts are not blamed.
 */
export const FREE_DELIVERIES = 2;
/** Acknowledgements sent before the broker is asked whether it has received them. */
const MAX_UNCONFIRMED = 10_000;

export interface RunStreamSettings {
  run: string;
  agents: readonly string[];
  /** A worker that sends no heartbeat for this long loses its leases. */
  leaseMs: number;
  /** Maximum deliveries of one reference. */
  maxDeliver: number;
  maxMessages?: number;
}

/**
 * Creates the stream of a run with one consumer per agent; an existing stream and its consumers are kept, so that a run
 * can be resumed. Returns whether the stream existed.
 */
export async function openRunStream(jsm: JetStreamManager, settings: RunStreamSettings): Promise<boolean> {
  const { run, agents, leaseMs, maxDeliver, maxMessages = MAX_MESSAGES } = settings;
  const config = {
    name: streamOf(run),
    subjects: [subjectsOfRun(run)],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    // Rejects a reference that is still queued, so that publishing again after a crash cannot duplicate it.
    max_msgs_per_subject: 1,
    discard_new_per_subject: true,
    // Not limited in bytes: nats-server 2.9 drops old messages of a stream that reaches `max_bytes` instead of rejecting
    // new ones.
    max_msgs: maxMessages,
  };
  const existed = await exists(jsm, run);
  if (!existed) await jsm.streams.add(config);
  for (const agent of agents) {
    const suspectDeliveries = Math.max(1, maxDeliver - FREE_DELIVERIES);
    await addConsumer(jsm, { run, token: agentToken(agent), leaseMs, maxDeliver });
    await addConsumer(jsm, { run, token: suspectToken(agent), leaseMs, maxDeliver: suspectDeliveries });
  }
  return existed;
}

async function addConsumer(
  jsm: JetStreamManager,
  { run, token, leaseMs, maxDeliver }: { run: string; token: string; leaseMs: number; maxDeliver: number },
): Promise<void> {
  try {
    await jsm.consumers.add(streamOf(run), {
      durable_name: token,
      filter_subject: subjectsOfToken(run, token),
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      ack_wait: leaseMs * NANOSECONDS,
      max_deliver: maxDeliver,
      max_ack_pending: -1,
    });
  } catch (error) {
    if (!(error instanceof JetStreamApiError && CONSUMER_EXISTS.has(error.code))) throw error;
  }
}

/** Replaces the consumers of a run. The new ones deliver every reference in the stream, including leased ones. */
export async function renewConsumers(jsm: JetStreamManager, settings: RunStreamSettings): Promise<void> {
  for (const token of settings.agents.flatMap((agent) => [agentToken(agent), suspectToken(agent)])) {
    try {
      await jsm.consumers.delete(streamOf(settings.run), token);
    } catch (error) {
      if (!(error instanceof JetStreamApiError && error.code === CONSUMER_NOT_FOUND)) throw error;
    }
  }
  await openRunStream(jsm, settings);
}

/**
 * Ends the leases of references that the stream no longer holds. nats-server writes the state of a stream and that of its
 * consumers at different times. A broker that was killed may therefore lease a removed reference. Up to version 2.10.24,
 * such a lease is due for redelivery again and again, and the consumer delivers nothing new meanwhile.
 */
export async function releaseRemoved(broker: Broker, run: string): Promise<void> {
  const { connection, jsm } = broker;
  const stream = streamOf(run);
  const { deleted = [] } = (await jsm.streams.info(stream, { deleted_details: true })).state;
  let sent = 0;
  for await (const { name, delivered } of jsm.consumers.list(stream))
    for (const position of deleted) {
      if (position > delivered.stream_seq) continue;
      // Without message: deliveries, position in the stream, position in the consumer, time, number of waiting messages.
      connection.publish(`$JS.ACK.${stream}.${name}.1.${position}.0.0.0`);
      if (++sent % MAX_UNCONFIRMED === 0) await flush(broker);
    }
  await flush(broker);
}

async function exists(jsm: JetStreamManager, run: string): Promise<boolean> {
  try {
    await jsm.streams.info(streamOf(run));
    return true;
  } catch (error) {
    if (isStreamMissing(error)) return false;
    throw error;
  }
}

export function isStreamMissing(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND;
}

/** Deletes the stream of a run; false if it does not exist. */
export async function deleteRunStream(jsm: JetStreamManager, run: string): Promise<boolean> {
  try {
    return await jsm.streams.delete(streamOf(run));
  } catch (error) {
    if (isStreamMissing(error)) return false;
    throw error;
  }
}

interface QueueStats {
  /** References that no worker has pulled. */
  waiting: number;
  /** References that a worker holds or has returned. */
  leased: number;
}

interface ConsumerStats extends QueueStats {
  /** Open requests of workers for references. */
  requests: number;
  /** Position of the last reference in the stream that was delivered. */
  delivered: number;
}

export interface RunStreamStats extends QueueStats {
  /** References in the stream: waiting, leased, or abandoned after too many deliveries. */
  messages: number;
  byAgent: Record<string, ConsumerStats>;
}

export async function runStreamStats(jsm: JetStreamManager, run: string): Promise<RunStreamStats> {
  const stats: RunStreamStats = { waiting: 0, leased: 0, messages: 0, byAgent: {} };
  for await (const info of jsm.consumers.list(streamOf(run))) {
    stats.waiting += info.num_pending;
    stats.leased += info.num_ack_pending;
    stats.byAgent[info.name] = {
      waiting: info.num_pending,
      leased: info.num_ack_pending,
      requests: info.num_waiting,
      delivered: info.delivered.stream_seq,
    };
  }
  stats.messages = (await jsm.streams.info(streamOf(run))).state.messages;
  return stats;
}

/** References that reached the maximum number of deliveries: they stay in the stream, but no consumer receives them. */
export async function exhaustedReferences(
  jsm: JetStreamManager,
  run: string,
  { waiting, leased, messages }: RunStreamStats,
): Promise<RolloutRef[]> {
  if (messages === 0 || waiting > 0 || leased > 0) return [];
  const { state } = await jsm.streams.info(streamOf(run), { subjects_filter: subjectsOfRun(run) });
  const found: RolloutRef[] = [];
  for (const subject of Object.keys(state.subjects ?? {})) {
    const message = await jsm.streams.getMessage(streamOf(run), { last_by_subj: subject });
    if (message) found.push(readRolloutRef(run, message));
  }
  return found;
}

/**
 * Removes one reference, if the stream holds it. Does not purge by subject, because nats-server 2.9 then loses messages
 * that its consumers have not received.
 */
export async function removeReference(jsm: JetStreamManager, ref: RolloutRef): Promise<void> {
  const stream = streamOf(ref.run);
  for (const subject of [subjectOf(ref), suspectSubjectOf(ref)]) {
    const message = await jsm.streams.getMessage(stream, { last_by_subj: subject });
    if (message) await jsm.streams.deleteMessage(stream, message.seq, false);
  }
}
