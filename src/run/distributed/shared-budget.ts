import type { CostMeter } from "../../model-endpoint/cost.ts";
import type { Board } from "../../queue/board.ts";

const SHARE_MS = 1_000;

/**
 * Lets the workers of a run spend one budget: each notes what it has spent, and counts what the others have. Between two
 * looks a worker does not know of the spending of others, so a limit can be passed by what all spend in about a second.
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
