import type { Lease, QueueStats, RolloutQueue } from "./queue.ts";

/** The queue of a run on one machine: producer and consumer share the process, so a lease never runs out. */
export class InProcessQueue<Item, Result> implements RolloutQueue<Item, Result> {
  readonly #store: (item: Item, result: Result) => Promise<void>;
  #waiting: Lease<Item>[] = [];
  #leased = 0;
  #wake: () => void = () => {};

  /** `store` receives every result. */
  constructor(store: (item: Item, result: Result) => Promise<void>) {
    this.#store = store;
  }

  enqueue(item: Item): void {
    this.#waiting.push({ item, deliveries: 1 });
    this.#wake();
  }

  async pull(limit: number, signal: AbortSignal): Promise<Lease<Item>[]> {
    while (this.#waiting.length === 0 && !signal.aborted)
      await new Promise<void>((resolve) => {
        this.#wake = () => {
          signal.removeEventListener("abort", this.#wake);
          resolve();
        };
        signal.addEventListener("abort", this.#wake);
      });
    const leases = this.#waiting.splice(0, limit);
    this.#leased += leases.length;
    return leases;
  }

  async heartbeat(): Promise<void> {}

  async settle(lease: Lease<Item>, result: Result | undefined): Promise<void> {
    this.#leased--;
    if (result === undefined) this.enqueue(lease.item);
    else await this.#store(lease.item, result);
  }

  async stats(): Promise<QueueStats> {
    return { waiting: this.#waiting.length, leased: this.#leased };
  }
}
