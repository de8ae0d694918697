import { processWide } from "../../base/door.ts";

const processes = processWide("process-share", () => ({ count: 1 }));

/**
 * Declares this process as one of several workers of a server. Limits on concurrent calls are divided evenly among
 * them.
 */
export function shareLimitsAmong(count: number): void {
  processes.count = count;
}

/** The share of a limit that this process may use. */
export function ownShare(limit: number): number {
  return Math.max(1, Math.floor(limit / processes.count));
}

const share = processWide("worker-share", () => ({
  workers: 1,
  position: 0,
  limits: new Map<string, number>(),
}));

/**
 * Sets the position of this process among the workers of a run, so that limits on concurrent calls apply to all of them
 * together.
 */
export function shareAmongWorkers(workers: number, position: number): void {
  share.workers = workers;
  share.position = position;
}

/** This worker's share of a limit. The shares of all workers add up to the limit, so some can be 0. */
export function workerShare(limit: number): number {
  const { workers, position } = share;
  return Math.floor(limit / workers) + (position < limit % workers ? 1 : 0);
}

/** Records a limit that all workers share. */
export function noteSharedLimit(server: string, limit: number): void {
  share.limits.set(server, limit);
}

/** The smallest shared limit; undefined without one. With more workers than this, some cannot make calls. */
export function leastSharedLimit(): number | undefined {
  return share.limits.size === 0 ? undefined : Math.min(...share.limits.values());
}
