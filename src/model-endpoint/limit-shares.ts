import { processWide } from "../process-wide.ts";

const processes = processWide("process-share", () => ({ count: 1 }));

/** Says that this process is one of several workers of a server. Limits on calls at once are divided evenly among them. */
export function shareLimitsAmong(count: number): void {
  processes.count = count;
}

/** The part of a limit that this process may use. */
export function ownShare(limit: number): number {
  return Math.max(1, Math.floor(limit / processes.count));
}

const share = processWide("worker-share", () => ({
  workers: 1,
  position: 0,
  limits: new Map<string, number>(),
}));

/** Says which of the workers of a run this process is, so that limits on calls at once hold for all of them together. */
export function shareAmongWorkers(workers: number, position: number): void {
  share.workers = workers;
  share.position = position;
}

/** The part of a limit that is this worker's: the parts of all workers add up to the limit, so some can be 0. */
export function workerShare(limit: number): number {
  const { workers, position } = share;
  return Math.floor(limit / workers) + (position < limit % workers ? 1 : 0);
}

/** Notes a limit that all workers share. */
export function noteSharedLimit(server: string, limit: number): void {
  share.limits.set(server, limit);
}

/** The smallest of them; undefined when there is none. More workers than this cannot all make calls. */
export function leastSharedLimit(): number | undefined {
  return share.limits.size === 0 ? undefined : Math.min(...share.limits.values());
}
