import { type CostMeter, onSlowDown, slowDownEndpoint } from "../../servers/model-endpoint/door.ts";
import type { RunBoard } from "../queue/board.ts";

/** The longest pause accepted from another worker. */
const LONGEST_PAUSE_MS = 60 * 60_000;
const SHARE_MS = 1_000;

/**
 * Pauses all workers when a model endpoint asks one of them to wait (429 with or without Retry-After, 503). Returns a
 * function that ends it.
 */
export async function shareSlowDowns(board: RunBoard, worker: string): Promise<() => void> {
  const timers = new Set<NodeJS.Timeout>();
  const watch = await board.watchSlowDowns((endpoint, record) => {
    const { pause_ms: pauseMs, factor } = record;
    const isUsable = pauseMs >= 0 && pauseMs <= LONGEST_PAUSE_MS && factor > 0 && factor <= 1;
    if (record.worker !== worker && isUsable) slowDownEndpoint(endpoint, { pauseMs, factor });
  });
  const stopListening = onSlowDown((endpoint, { pauseMs, factor }) => {
    // If the broker is unreachable, each worker relies on the replies that it receives.
    void board.putSlowDown(endpoint, { worker, pause_ms: pauseMs, factor }).catch(() => {});
    // Keeps the pause published until it is over, for workers that start later.
    const timer = setTimeout(() => {
      timers.delete(timer);
      void board.removeSlowDown(endpoint).catch(() => {});
    }, pauseMs).unref();
    timers.add(timer);
  });
  return () => {
    stopListening();
    watch.close();
    for (const timer of timers) clearTimeout(timer);
  };
}

/**
 * Lets the workers of a run share one budget: each worker publishes its spending and adds that of the others. A worker
 * does not see the spending of others between two checks, so the limit can be exceeded by what all workers spend in
 * about a second. Returns a function that ends it.
 */
export function shareBudget(board: RunBoard, run: string, worker: string, meter: CostMeter): () => void {
  let own = 0;
  let published = 0;
  meter.subscribe((cost) => {
    own += cost;
  });
  const share = async () => {
    const spent = own;
    if (spent !== published) await board.putSpending(run, worker, spent);
    published = spent;
    if (meter.limit === null) return;
    let others = 0;
    for (const [name, dollars] of await board.spending(run)) if (name !== worker) others += dollars;
    meter.correct(own + others);
  };
  const timer = setInterval(() => void share().catch(() => {}), SHARE_MS);
  return () => clearInterval(timer);
}
