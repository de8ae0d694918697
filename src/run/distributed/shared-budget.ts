import type { CostMeter } from "../../model-endpoint/cost.ts";
import type { Board } from "../../queue/board.ts";

const SHARE_MS = 1_000;

/**
 * Lets the workers of a run share one budget: each worker publishes its spending and adds that of the others. A worker
 * does not see the spending of others between two checks, so the limit can be exceeded by what all workers spend in
 * about a second.
 */
export class SharedBudget {
  readonly #timer: NodeJS.Timeout;
  #own = 0;
  #noted = 0;

  constructor(board: Board, run: string, worker: string, meter: CostMeter) {
    meter.subscribe((cost) => {
      this.#own += cost;
    });
    const share = async () => {
      const own = this.#own;
      if (own !== this.#noted) await board.putSpending(run, worker, own);
      this.#noted = own;
      if (meter.limit === null) return;
      let others = 0;
      for (const [name, dollars] of await board.spending(run)) if (name !== worker) others += dollars;
      meter.correct(this.#own + others);
    };
    this.#timer = setInterval(() => void share().catch(() => {}), SHARE_MS);
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
