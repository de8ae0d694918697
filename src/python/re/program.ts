import type { AssertionKind, CodePointTest } from "./nodes.ts";

/**
 * One step of a compiled pattern. `mark` numbers the steps at which the matcher remembers having been: coming to such a
 * step at the same place in the text again cannot lead to a match that the first visit did not find.
 */
export type Instruction =
  | { op: "char"; codePoint: number }
  | { op: "char-ignoring-case"; key: number }
  | { op: "set"; test: CodePointTest }
  | { op: "assert"; kind: AssertionKind; ascii: boolean }
  | { op: "save"; slot: number }
  | { op: "jump"; target: number }
  | { op: "split"; first: number; second: number; mark: number }
  /** Any number of characters of one set. */
  | { op: "star"; test: CodePointTest; lazy: boolean; mark: number }
  /** Between `min` and `max` characters of one set. */
  | { op: "run"; test: CodePointTest; min: number; max: number; lazy: boolean; mark: number }
  /** The end of a loop body: on to the next round, or out of the loop when this round consumed nothing. */
  | { op: "loop-end"; slot: number; again: number; out: number }
  | { op: "backreference"; index: number; ignoreCase: boolean }
  | { op: "conditional"; index: number; otherwise: number }
  /** Matches the steps from `body` to their `match`, keeps the place it ends at and no way back into it. */
  | { op: "atomic"; body: number; mark: number }
  | { op: "look"; body: number; ahead: boolean; negative: boolean; width: number; mark: number }
  | { op: "match" };

export interface Program {
  instructions: Instruction[];
  /** Capture positions (two a group, group 0 first), then one slot a loop. */
  slots: number;
  marks: number;
  groups: number;
  names: ReadonlyMap<string, number>;
  /**
   * When to remember visited places. `always`: what follows depends on the place alone. `late`: a loop whose body can be empty
   * makes captures depend on the way there, so only a search that takes too long remembers. `never`: backreferences.
   */
  memory: "always" | "late" | "never";
  /** Text every match starts with; "" when unknown. */
  prefix: string;
  /** What the first character of a match must fulfil; undefined when a match may be empty. */
  first: CodePointTest | undefined;
}
