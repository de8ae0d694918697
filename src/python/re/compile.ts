import { caseKey, tabulated } from "./characters.ts";
import { firstOf, prefixOf } from "./first.ts";
import { type CodePointTest, type Node, type ParsedPattern, widthOf } from "./nodes.ts";
import type { Instruction, Program } from "./program.ts";
import { RegexSyntaxError } from "./syntax-error.ts";

/** Counted repetitions of groups are written out; beyond this size a pattern is refused. */
const maxInstructions = 50_000;

/** Turns a parsed pattern into steps for the matcher. */
export function compileProgram(pattern: ParsedPattern): Program {
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
  memory: Program["memory"] = "always";

  constructor(pattern: ParsedPattern) {
    this.slots = 2 * (pattern.groups + 1);
  }

  emitAll(root: Node): void {
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

  private emit(node: Node): void {
    switch (node.type) {
      case "empty":
        return;
      case "char":
        if (node.ignoreCase) this.add({ op: "char-ignoring-case", key: caseKey(node.codePoint) });
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
        if (node.mode === "possessive")
          this.atomic({ ...node, body: eachOnItsOwn(node.body), mode: "greedy" });
        else this.repeat(node.body, node.min, node.max, node.mode === "lazy");
        return;
    }
  }

  private choice(items: readonly Node[]): void {
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

  private conditional(node: Extract<Node, { type: "conditional" }>): void {
    this.memory = "never";
    const test = this.add({ op: "conditional", index: node.index, otherwise: 0 });
    this.emit(node.yes);
    const end = this.add({ op: "jump", target: 0 });
    test.otherwise = this.here;
    this.emit(node.no);
    end.target = this.here;
  }

  private atomic(body: Node): void {
    this.subProgram(body, (start) => ({ op: "atomic", body: start, mark: this.marks++ }));
  }

  private look(node: Extract<Node, { type: "look" }>): void {
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

  /** A part that is matched on its own; its steps lie behind the step that runs them. */
  private subProgram(body: Node, runner: (start: number) => Instruction): void {
    this.add(runner(this.here + 2));
    const over = this.add({ op: "jump", target: 0 });
    this.emit(body);
    this.add({ op: "match" });
    over.target = this.here;
  }

  private repeat(body: Node, min: number, max: number, lazy: boolean): void {
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

  /** `body` any number of times; a round that consumes nothing is the last. */
  private loop(body: Node, lazy: boolean): void {
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

  /** `body` up to `count` times: each round is only entered after the one before, and not after one that consumed nothing. */
  private optional(body: Node, count: number, lazy: boolean): void {
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

  /** One round of a loop; the check at its end when the round may consume nothing. */
  private round(body: Node): { again: number; out: number } | undefined {
    if (this.widthOf(body) > 0) {
      this.emit(body);
      return undefined;
    }
    if (this.memory === "always") this.memory = "late";
    const slot = this.slots++;
    this.add({ op: "save", slot });
    this.emit(body);
    return this.add({ op: "loop-end", slot, again: 0, out: 0 });
  }

  private widthOf(body: Node): number {
    return widthOf(body, new Map())[0];
  }

  private point(split: { first: number; second: number }, enter: number, leave: number, lazy: boolean): void {
    split.first = lazy ? leave : enter;
    split.second = lazy ? enter : leave;
  }
}

/** CPython matches every iteration of a possessive repeat on its own and never goes back into one. */
function eachOnItsOwn(body: Node): Node {
  return singleCharacter(body) ? body : { type: "atomic", body };
}

/** The set a node stands for when it always consumes exactly one character and captures nothing. */
function singleCharacter(node: Node): CodePointTest | undefined {
  if (node.type === "sequence") {
    const [only, ...more] = node.items;
    return only && more.length === 0 ? singleCharacter(only) : undefined;
  }
  if (node.type === "set") return node.test;
  if (node.type !== "char") return undefined;
  const { codePoint } = node;
  if (!node.ignoreCase) return (other) => other === codePoint;
  const key = caseKey(codePoint);
  return (other) => caseKey(other) === key;
}
