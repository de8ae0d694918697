import type { Kwargs } from "./kwargs.ts";

/** One kind of constraint on a response. */
export interface Instruction {
  /** The arguments it takes; any other makes it unfollowable. */
  readonly kwargs: readonly string[];
  /** Whether the text follows it. Arguments that are missing or of the wrong kind throw `KwargsError`. */
  check(text: string, kwargs: Kwargs): boolean;
}

export type Instructions = Readonly<Record<string, Instruction>>;
