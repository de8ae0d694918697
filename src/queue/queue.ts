/** An item that one consumer holds until it settles it or its lease expires. */
export interface Lease<Item> {
  readonly item: Item;
  /** How often the item was delivered, including this time. */
  readonly deliveries: number;
}

export interface QueueStats {
  /** Items that no worker has pulled. */
  waiting: number;
  /** Items that a consumer holds or has returned. */
  leased: number;
}

/**
 * Passes items from one producer to any number of consumers. The queue owns delivery: it redelivers an item whose
 * consumer dies.
 */
export interface RolloutQueue<Item, Result> {
  /** Adds an item. Has no effect if the queue still holds the item. */
  enqueue(item: Item): Promise<void> | void;
  /** Pulls up to `limit` items; waits until there is one or the signal fires. */
  pull(limit: number, signal: AbortSignal): Promise<Lease<Item>[]>;
  /** Renews leases. */
  heartbeat(leases: Iterable<Lease<Item>>): Promise<void>;
  /**
   * Ends a lease. A result is stored before the item is removed from the queue; without one the item is redelivered.
   */
  settle(lease: Lease<Item>, result: Result | undefined): Promise<void>;
  stats(): Promise<QueueStats>;
}

/** The queue of a run on one machine: producer and consumer share the process, so a lease never expires. */
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
