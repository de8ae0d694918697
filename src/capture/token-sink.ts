import type { TokenCaptureRecord } from "./token-record.ts";

/** Stores the token records of a run. A class of the user can replace the files (`token_id_capture.sink`). */
export interface TokenSink {
  /** A call is about to be made; one that is never `put` makes its rollout incomplete. */
  beginCall?(rolloutId: string, modelCallId: string): Promise<void>;
  /** Returns when the record is safe. The same record again changes nothing. */
  put(record: TokenCaptureRecord): Promise<void>;
  /** The tokens of a call are lost. */
  markIncomplete(rolloutId: string, modelCallId: string): Promise<void>;
  close?(): Promise<void>;
}

/** All records of a rollout at the moment it was frozen. */
export interface TokenSnapshot {
  /** In the order in which the calls ended. */
  records: TokenCaptureRecord[];
  /** The calls in the order in which they began; undefined for one whose tokens are lost. */
  calls: (TokenCaptureRecord | undefined)[];
  /** Whether something is known to be missing. */
  incomplete: boolean;
  /** What is wrong with the records themselves, if anything. */
  problem?: string;
  snapshotId: string;
  version: number;
}

/** Returns the records of finished rollouts. Responses are rebuilt from a sink that implements this too. */
export interface TokenSource {
  /** Closes a rollout: later records are refused. Freezing again gives the same snapshot. */
  freeze(rolloutId: string): Promise<TokenSnapshot>;
  /** Deletes exactly the snapshot that was used; false when the rollout has changed since. */
  drop(rolloutId: string, snapshot: Pick<TokenSnapshot, "snapshotId" | "version">): Promise<boolean>;
  /** Removes all records of this id before the rollout runs. */
  clear?(rolloutId: string): Promise<void>;
  close?(): Promise<void>;
}

/** Whether a sink can also return records. */
export function isTokenSource(sink: object): sink is TokenSource {
  const { freeze, drop } = sink as Partial<TokenSource>;
  return typeof freeze === "function" && typeof drop === "function";
}
