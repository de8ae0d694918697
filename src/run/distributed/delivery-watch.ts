import type { Broker } from "../../queue/broker.ts";
import { exhaustedReferences, runStreamStats } from "../../queue/run-stream.ts";
import type { RolloutRef } from "../../queue/subjects.ts";

/** Number of consecutive checks that must see an exhausted reference before its rollout is abandoned. */
const SEEN_EXHAUSTED = 3;
/**
 * Number of consecutive checks without references at the broker and without results after which references count as
 * lost.
 */
const SEEN_QUIET = 30;

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
