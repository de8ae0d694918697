import type { BrokerSettings } from "../queue/broker-settings.ts";

/** How a run uses a broker. */
export interface QueueOptions {
  broker: BrokerSettings;
  /** A worker that sends no heartbeat for this long loses its rollouts. Default: 30. */
  leaseSeconds?: number;
  /** Deliveries of one rollout before it fails as `worker_lost`. Default: 10. */
  maxDeliver?: number;
  /** Address at which workers reach this process. Default: the local address of the connection to the broker. */
  storeHost?: string;
  storePort?: number;
  /** Longest time that the broker may be unreachable or full. Default: 3600. */
  outageSeconds?: number;
  /** Directory that workers share with this process, for rows and results. Workers without access use HTTP. */
  storeDirectory?: string;
  /** Share of the concurrent rollouts, by agent. Default: 1. */
  weights?: Readonly<Record<string, number>>;
  /** Tags that a worker must have, by agent. */
  needs?: Readonly<Record<string, readonly string[]>>;
}
