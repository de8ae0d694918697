import { charTest, tabulated } from "./characters.ts";
import {
  type AssertionKind,
  type CodePointTest,
  firstOf,
  type ParsedPattern,
  type PatternNode,
  prefixOf,
  widthOf,
} from "./nodes.ts";
import { RegexSyntaxError } from "./syntax-error.ts";

/** Maximum size of a program. Counted repetitions of groups are written out. */
const maxInstructions = 50_000;

/**
 * One instruction of a compiled pattern. The matcher remembers the positions at which it visited an instruction with a
 * `mark`: a second visit at the same position cannot find a match that the first one did not.
 */
export type Instruction =
  | { op: "char"; codePoint: number }
  | { op: "set"; test: CodePointTest }
  | { op: "assert"; kind: AssertionKind; ascii: boolean }
  | { op: "save"; slot: number }
  | { op: "jump"; target: number }
  | { op: "split"; first: number; second: number; mark: number }
  /** Any number of characters of a set. */
  | { op: "star"; test: CodePointTest; lazy: boolean; mark: number }
  /** Between `min` and `max` characters of a set. */
  | { op: "run"; test: CodePointTest; min: number; max: number; lazy: boolean; mark: number }
  /** The end of a loop body: starts the next round, or leaves the loop if this round consumed nothing. */
  | { op: "loop-end"; slot: number; again: number; out: number }
  | { op: "backreference"; index: number; ignoreCase: boolean }
  | { op: "conditional"; index: number; otherwise: number }
  /** Runs the instructions from `body` to their `match` and continues there, without backtracking into them. */
  | { op: "atomic"; body: number; mark: number }
  | { op: "look"; body: number; ahead: boolean; negative: boolean; width: number; mark: number }
  | { op: "match" };

export interface PatternProgram {
  instructions: Instruction[];
  /** Two capture positions per group, group 0 first, then one slot per loop. */
  slots: number;
  marks: number;
  groups: number;
  names: ReadonlyMap<string, number>;
  /**
   * When to remember visited positions. `always`: the rest of a match depends on the position alone. `late`: in a loop
   * whose body can be empty, captures depend on the path, so only a search that takes too long remembers. `never`:
   * the pattern has backreferences.
   */
  memory: "always" | "late" | "never";
  /** The text at the start of every match; "" if unknown. */
  prefix: string;
  /** The test for the first character of a match; undefined if a match may be empty. */
  first: CodePointTest | undefined;
}

/** Compiles a parsed pattern to instructions for the matcher. */
export function compileProgram(pattern: ParsedPattern): PatternProgram {
  const compiler = new Compiler(pattern);
  compiler.emitAll(pattern.root);
  const first = firstOf(pattern.root);
  return {
    instructions: compiler.instructions,
    slots: compiler.slots,
    marks: compiler.marks,
    groups: pattern.groups,
    names: pattern.names,
    memory: compiler.memory,
    prefix: prefixOf(pattern.root),
    first: first.nullable || !first.test ? undefined : tabulated(first.test),
  };
}

class Compiler {
  readonly instructions: Instruction[] = [];
  slots: number;
  marks = 0;
  memory: PatternProgram["memory"] = "always";

  constructor(pattern: ParsedPattern) {
    this.slots = 2 * (pattern.groups + 1);
  }

  emitAll(root: PatternNode): void {
    this.emit(root);
    this.add({ op: "match" });
  }

  private get here(): number {
    return this.instructions.length;
  }

  private add<Step extends Instruction>(instruction: Step): Step {
    if (this.instructions.length >= maxInstructions)
      throw new RegexSyntaxError("the pattern is too large", 0);
    this.instructions.push(instruction);
    return instruction;
  }

  private emit(node: PatternNode): void {
    switch (node.type) {
      case "empty":
        return;
      case "char":
        if (node.ignoreCase) this.add({ op: "set", test: charTest(node) });
        else this.add({ op: "char", codePoint: node.codePoint });
        return;
      case "set":
        this.add({ op: "set", test: node.test });
        return;
      case "assertion":
        this.add({ op: "assert", kind: node.kind, ascii: node.ascii });
        return;
      case "sequence":
        for (const item of node.items) this.emit(item);
        return;
      case "choice":
        this.choice(node.items);
        return;
      case "group":
        this.add({ op: "save", slot: 2 * node.index });
        this.emit(node.body);
        this.add({ op: "save", slot: 2 * node.index + 1 });
        return;
      case "backreference":
        this.memory = "never";
        this.add({ op: "backreference", index: node.index, ignoreCase: node.ignoreCase });
        return;
      case "conditional":
        this.conditional(node);
        return;
      case "atomic":
        this.atomic(node.body);
        return;
      case "look":
        this.look(node);
        return;
      case "repeat":
        if (node.mode === "possessive") this.atomic({ ...node, body: eachAtomic(node.body), mode: "greedy" });
        else this.repeat(node.body, node.min, node.max, node.mode === "lazy");
        return;
    }
  }

  private choice(items: readonly PatternNode[]): void {
    const ends: { target: number }[] = [];
    for (const [index, item] of items.entries()) {
      if (index === items.length - 1) {
        this.emit(item);
        break;
      }
      const split = this.split();
      split.first = this.here;
      this.emit(item);
      ends.push(this.add({ op: "jump", target: 0 }));
      split.second = this.here;
    }
    for (const end of ends) end.target = this.here;
  }

  private split(): { first: number; second: number } {
    return this.add({ op: "split", first: 0, second: 0, mark: this.marks++ });
  }

  private conditional(node: Extract<PatternNode, { type: "conditional" }>): void {
    this.memory = "never";
    const test = this.add({ op: "conditional", index: node.index, otherwise: 0 });
    this.emit(node.yes);
    const end = this.add({ op: "jump", target: 0 });
    test.otherwise = this.here;
    this.emit(node.no);
    end.target = this.here;
  }

  private atomic(body: PatternNode): void {
    this.subProgram(body, (start) => ({ op: "atomic", body: start, mark: this.marks++ }));
  }

  private look(node: Extract<PatternNode, { type: "look" }>): void {
    const [width] = widthOf(node.body, new Map());
    const { ahead, negative } = node;
    this.subProgram(node.body, (start) => ({
      op: "look",
      body: start,
      ahead,
      negative,
      width,
      mark: this.marks++,
    }));
  }

  /** A part that is matched separately. Its instructions follow the instruction that runs them. */
  private subProgram(body: PatternNode, runner: (start: number) => Instruction): void {
    this.add(runner(this.here + 2));
    const over = this.add({ op: "jump", target: 0 });
    this.emit(body);
    this.add({ op: "match" });
    over.target = this.here;
  }

  private repeat(body: PatternNode, min: number, max: number, lazy: boolean): void {
    if (max === 0) return;
    const test = singleCharacter(body);
    if (test) this.repeatSet(test, min, max, lazy);
    else {
      for (let count = 0; count < min; count++) this.emit(body);
      if (max === Number.POSITIVE_INFINITY) this.loop(body, lazy);
      else this.optional(body, max - min, lazy);
    }
  }

  private repeatSet(test: CodePointTest, min: number, max: number, lazy: boolean): void {
    if (max !== Number.POSITIVE_INFINITY) {
      this.add({ op: "run", test, min, max, lazy, mark: this.marks++ });
      return;
    }
    if (min === 1) this.add({ op: "set", test });
    else if (min > 1) this.add({ op: "run", test, min, max: min, lazy: false, mark: this.marks++ });
    this.add({ op: "star", test, lazy, mark: this.marks++ });
  }

  /** `body` any number of times. A round that consumes nothing is the last one. */
  private loop(body: PatternNode, lazy: boolean): void {
    const again = this.here;
    const split = this.split();
    const start = this.here;
    const end = this.round(body);
    if (end) {
      end.again = again;
      end.out = this.here;
    } else this.add({ op: "jump", target: again });
    this.point(split, start, this.here, lazy);
  }

  /** `body` up to `count` times. A round that consumes nothing is the last one. */
  private optional(body: PatternNode, count: number, lazy: boolean): void {
    const rounds: { split: { first: number; second: number }; start: number }[] = [];
    const ends: { out: number }[] = [];
    for (let round = 0; round < count; round++) {
      const split = this.split();
      rounds.push({ split, start: this.here });
      const end = this.round(body);
      if (!end) continue;
      end.again = this.here;
      ends.push(end);
    }
    for (const { split, start } of rounds) this.point(split, start, this.here, lazy);
    for (const end of ends) end.out = this.here;
  }

  /** Adds one round of a loop. Returns its `loop-end` instruction if the round may consume nothing. */
  private round(body: PatternNode): { again: number; out: number } | undefined {
    if (widthOf(body, new Map())[0] > 0) {
      this.emit(body);
      return undefined;
    }
    if (this.memory === "always") this.memory = "late";
    const slot = this.slots++;
    this.add({ op: "save", slot });
    this.emit(body);
    return this.add({ op: "loop-end", slot, again: 0, out: 0 });
  }

  private point(split: { first: number; second: number }, enter: number, leave: number, lazy: boolean): void {
    split.first = lazy ? leave : enter;
    split.second = lazy ? enter : leave;
  }
}

/** upstream (CPython): each iteration of a possessive repeat is atomic */
function eachAtomic(body: PatternNode): PatternNode {
  return singleCharacter(body) ? body : { type: "atomic", body };
}

/** The set of a node that consumes exactly one character and captures nothing. */
function singleCharacter(node: PatternNode): CodePointTest | undefined {
  if (node.type === "sequence") {
    const [only, ...more] = node.items;
    return only && more.length === 0 ? singleCharacter(only) : undefined;
  }
  if (node.type === "set") return node.test;
  return node.type === "char" ? charTest(node) : undefined;
}
