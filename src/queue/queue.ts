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
