import { errorMessage } from "../../base/errors.ts";
import type { Broker } from "../queue/broker.ts";
import { cancelSubject } from "../queue/control.ts";
import {
  exhaustedReferences,
  type RunStreamStats,
  releaseRemoved,
  removeReference,
  runStreamStats,
} from "../queue/run-stream.ts";
import { type RolloutRef, streamOf } from "../queue/subjects.ts";

/** Above this number, the whole stream is purged instead of withdrawing rollouts one by one. */
const WITHDRAWN_SINGLY = 50;
/** Number of consecutive checks that must see an exhausted reference before its rollout is abandoned. */
const SEEN_EXHAUSTED = 3;
/**
 * Number of consecutive checks without references at the broker and without results after which references count as
 * lost.
 */
const SEEN_QUIET = 30;
/** Number of consecutive checks in which a consumer delivers nothing, although it could, until it counts as stuck. */
const SEEN_STUCK = 10;

/** Returns a function that withdraws a rollout from the broker and its workers, in batches. */
export function withdrawals(
  run: string,
  { connection, jsm }: Broker,
  onNotice: (text: string) => void,
): (ref: RolloutRef) => void {
  const waiting: RolloutRef[] = [];
  const cancel = (which: object) => connection.publish(cancelSubject(run), JSON.stringify(which));
  const withdrawAll = async () => {
    const refs = waiting.splice(0);
    try {
      if (refs.length > WITHDRAWN_SINGLY) {
        cancel({ all: true });
        await jsm.streams.purge(streamOf(run));
        return;
      }
      for (const ref of refs) {
        cancel({ task: ref.task, rollout: ref.rollout });
        await removeReference(jsm, ref);
      }
    } catch (error) {
      onNotice(`Withdrawn rollouts may still run in workers: ${errorMessage(error)}`);
    }
  };
  return (ref) => {
    if (waiting.length === 0) setImmediate(() => void withdrawAll());
    waiting.push(ref);
  };
}

/** What the collector must do so that the broker delivers all rollouts. */
interface DeliveryTrouble {
  /** The broker has lost references. */
  areLost: boolean;
  /** The broker holds references that it does not deliver. */
  areStuck: boolean;
  /** References that were delivered as often as allowed. */
  exhausted: RolloutRef[];
}

/** Finds rollouts that the broker will not deliver again. */
export class DeliveryWatch {
  readonly #run: string;
  readonly #broker: Broker;
  /** Which start of the broker was seen last. */
  #server: string | undefined;
  /**
   * Whether the broker may take references for acknowledged that it holds again since a restart. They look like
   * exhausted ones.
   */
  #isDoubtful: boolean;
  #exhausted = 0;
  /** For each consumer, what it had delivered at the last check, and the number of checks in which it was stuck. */
  readonly #stuck = new Map<string, { delivered: number; checks: number }>();
  /** Number of results received, and the number at the last check. */
  #results = 0;
  #resultsSeen = 0;
  /** Consecutive checks that found nothing at the broker although rollouts are in flight. */
  #quiet = 0;

  /** `isResumed`: whether references of an earlier session are in the stream. */
  constructor(run: string, broker: Broker, isResumed: boolean) {
    this.#run = run;
    this.#broker = broker;
    this.#isDoubtful = isResumed;
  }

  resultCame(): void {
    this.#results++;
  }

  /** `waiting`: whether rollouts are in flight and all of them are published. */
  async look(waiting: boolean): Promise<DeliveryTrouble> {
    await this.#checkServer();
    const stats = await runStreamStats(this.#broker.jsm, this.#run);
    const areLost = this.#areLost(waiting && stats.messages === 0);
    const exhausted = await exhaustedReferences(this.#broker.jsm, this.#run, stats);
    this.#exhausted = exhausted.length === 0 ? 0 : this.#exhausted + 1;
    const isExhausted = this.#exhausted >= SEEN_EXHAUSTED;
    const areStuck = this.#areStuck(stats) || (isExhausted && this.#isDoubtful);
    if (areStuck) {
      this.#isDoubtful = false;
      this.#exhausted = 0;
      this.#stuck.clear();
    }
    return { areLost, areStuck, exhausted: isExhausted && !areStuck ? exhausted : [] };
  }

  /** A broker has a new id after each start. */
  async #checkServer(): Promise<void> {
    const server = this.#broker.connection.info?.server_id;
    if (server === this.#server) return;
    await releaseRemoved(this.#broker, this.#run);
    this.#isDoubtful ||= this.#server !== undefined;
    this.#server = server;
  }

  /** A consumer with references and requests for them delivers at once. */
  #areStuck({ byAgent }: RunStreamStats): boolean {
    for (const [agent, { waiting, requests, delivered }] of Object.entries(byAgent)) {
      const last = this.#stuck.get(agent);
      const isStuck = waiting > 0 && requests > 0 && last?.delivered === delivered;
      this.#stuck.set(agent, { delivered, checks: isStuck ? last.checks + 1 : 0 });
    }
    return [...this.#stuck.values()].some(({ checks }) => checks >= SEEN_STUCK);
  }

  /** A broker that lost its storage, or part of it, no longer holds references that are not settled. */
  #areLost(isQuiet: boolean): boolean {
    this.#quiet = isQuiet && this.#results === this.#resultsSeen ? this.#quiet + 1 : 0;
    this.#resultsSeen = this.#results;
    if (this.#quiet < SEEN_QUIET) return false;
    this.#quiet = 0;
    return true;
  }
}
