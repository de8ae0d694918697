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
