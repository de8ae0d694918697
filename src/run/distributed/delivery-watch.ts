import type { Broker } from "../../queue/broker.ts";
import { exhaustedReferences, runStreamStats } from "../../queue/run-stream.ts";
import type { RolloutRef } from "../../queue/subjects.ts";

/** References that cannot be delivered any more are given up when they are seen this often in a row. */
const SEEN_EXHAUSTED = 3;
/** References are taken for lost when the broker has none for so many looks, and no result comes. */
const SEEN_QUIET = 30;

/** Finds rollouts that the broker will not deliver any more. */
export class DeliveryWatch {
  readonly #run: string;
  readonly #broker: Broker;
  #exhausted = 0;
  /** Results that came, and how many of them the last look knew. */
  #results = 0;
  #resultsSeen = 0;
  /** Looks in a row that found nothing at the broker though rollouts are under way. */
  #quiet = 0;

  constructor(run: string, broker: Broker) {
    this.#run = run;
    this.#broker = broker;
  }

  resultCame(): void {
    this.#results++;
  }

  /** `waiting`: whether rollouts are under way and all of them are published. */
  async look(waiting: boolean): Promise<{ areLost: boolean; exhausted: RolloutRef[] }> {
    const stats = await runStreamStats(this.#broker.jsm, this.#run);
    const areLost = this.#areLost(waiting && stats.messages === 0);
    const exhausted = await exhaustedReferences(this.#broker.jsm, this.#run, stats);
    this.#exhausted = exhausted.length === 0 ? 0 : this.#exhausted + 1;
    return { areLost, exhausted: this.#exhausted >= SEEN_EXHAUSTED ? exhausted : [] };
  }

  /** A broker that lost its storage, or part of it, does not hold references any more that nobody has settled. */
  #areLost(isQuiet: boolean): boolean {
    this.#quiet = isQuiet && this.#results === this.#resultsSeen ? this.#quiet + 1 : 0;
    this.#resultsSeen = this.#results;
    if (this.#quiet < SEEN_QUIET) return false;
    this.#quiet = 0;
    return true;
  }
}
