import type { Kwargs } from "./kwargs.ts";

/** One kind of constraint on a response. */
export interface Instruction {
  /** The accepted arguments; an instruction with any other argument cannot be followed. `any`: all are ignored. */
  readonly kwargs: readonly string[] | "any";
  /** Whether the text follows the instruction. Throws `KwargsError` for missing or invalid arguments. */
  check(text: string, kwargs: Kwargs): boolean;
}

export type Instructions = Readonly<Record<string, Instruction>>;
