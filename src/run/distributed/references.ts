import { errorMessage } from "../../errors.ts";
import type { Broker } from "../../queue/broker.ts";
import { cancelSubject } from "../../queue/control.ts";
import { exhaustedReferences, removeReference, runStreamStats } from "../../queue/run-stream.ts";
import { type RolloutRef, streamOf } from "../../queue/subjects.ts";

/** Above this number, the whole stream is purged instead of withdrawing rollouts one by one. */
const WITHDRAWN_SINGLY = 50;
/** Number of consecutive checks that must see an exhausted reference before its rollout is abandoned. */
const SEEN_EXHAUSTED = 3;
/**
 * Number of consecutive checks without references at the broker and without results after which references count as
 * lost.
 */
const SEEN_QUIET = 30;

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

/** Finds rollouts that the broker will not deliver again. */
export class DeliveryWatch {
  readonly #run: string;
  readonly #broker: Broker;
  #exhausted = 0;
  /** Number of results received, and the number at the last check. */
  #results = 0;
  #resultsSeen = 0;
  /** Consecutive checks that found nothing at the broker although rollouts are in flight. */
  #quiet = 0;

  constructor(run: string, broker: Broker) {
    this.#run = run;
    this.#broker = broker;
  }

  resultCame(): void {
    this.#results++;
  }

  /** `waiting`: whether rollouts are in flight and all of them are published. */
  async look(waiting: boolean): Promise<{ areLost: boolean; exhausted: RolloutRef[] }> {
    const stats = await runStreamStats(this.#broker.jsm, this.#run);
    const areLost = this.#areLost(waiting && stats.messages === 0);
    const exhausted = await exhaustedReferences(this.#broker.jsm, this.#run, stats);
    this.#exhausted = exhausted.length === 0 ? 0 : this.#exhausted + 1;
    return { areLost, exhausted: this.#exhausted >= SEEN_EXHAUSTED ? exhausted : [] };
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
