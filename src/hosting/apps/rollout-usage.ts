import { accumulateUsage } from "../../wire/convert/accumulate-usage.ts";
import type { Usage } from "../../wire/convert/usage.ts";
import type { Handler } from "../app.ts";

/** Rollouts whose counts are kept; nobody asks for those of agents that count themselves. */
const MAX_ROLLOUTS = 100_000;

/** Counts model calls and their tokens by the rollout in the path, whoever makes the calls. */
export class RolloutUsage {
  readonly #usage = new Map<string, Usage>();

  /** Adds one answered call. */
  add(rolloutId: string, usage: Usage | null | undefined): void {
    // An endpoint that reports no usage says nothing about tokens: a sum of zeros would be a wrong number.
    if (usage == null) return;
    const total = accumulateUsage(this.#usage.get(rolloutId) ?? null, { ...usage, ng_model_calls: 1 });
    // Deleted first: the map then has the rollouts in the order of their last calls.
    this.#usage.delete(rolloutId);
    this.#usage.set(rolloutId, total as Usage);
    if (this.#usage.size <= MAX_ROLLOUTS) return;
    for (const oldest of this.#usage.keys()) {
      this.#usage.delete(oldest);
      break;
    }
  }

  /** `POST /ng-rollout/<id>/rollout_usage`: what was counted since it was last asked. */
  readonly route: Handler = ({ rolloutId = "" }) => {
    const usage = this.#usage.get(rolloutId) ?? null;
    this.#usage.delete(rolloutId);
    return { usage };
  };
}
