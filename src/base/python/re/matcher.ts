import { before, holds, simpleLower } from "./characters.ts";
import type { Instruction, PatternProgram } from "./compile.ts";
import type { CodePointTest } from "./nodes.ts";
import { RegexBudgetError } from "./syntax-error.ts";
import { VisitedPlaces } from "./visited-places.ts";

/** Maximum number of steps of a search: a constant, plus a number per character of the text. */
const baseSteps = 20_000_000;
const stepsPerCharacter = 40;
/** Steps after which a search whose memory is `late` starts to remember. */
const stepsWithoutMemory = 200_000;
/** Maximum numbers on the backtrack stack: 128 MB. */
const maxStack = 16 * 1024 * 1024;
const unlimited = 2 ** 30;

/** Kinds of backtrack frames. */
const CHOICE = 0;
const RESTORE = 1;
const GREEDY = 2;
const LAZY = 3;
const FRAME = 4;

/**
 * Runs a compiled pattern on one text, with the backtracking of Python. Where the rest of a match does not depend on
 * captures, it never runs the same instruction at the same position twice, so its time is bounded by pattern length times
 * text length.
 */
export class Matcher {
  private readonly program: PatternProgram;
  private readonly text: string;
  private slots: number[] = [];
  private stack: number[] = [];
  /** Steps taken so far. */
  steps = 0;
  /** The number of steps at which the current attempt ends with an error. */
  private stop = 0;
  private readonly limit: number;
  private visited: VisitedPlaces | undefined;
  /** A match must not end here, because the previous match was empty and ended here. */
  private rejectedEnd = -1;

  constructor(program: PatternProgram, text: string, maxSteps = Number.POSITIVE_INFINITY) {
    this.program = program;
    this.text = text;
    this.limit = Math.min(baseSteps + stepsPerCharacter * text.length, maxSteps);
  }

  /** The capture positions, two per group, of the first match at or after `from`. */
  search(from: number, mustAdvance = false): number[] | undefined {
    const { prefix, first } = this.program;
    const { text } = this;
    for (let start = from; start <= text.length; start += this.width(start)) {
      if (prefix !== "") {
        start = text.indexOf(prefix, start);
        if (start < 0) return undefined;
      } else if (first !== undefined) {
        while (start < text.length && !first(text.codePointAt(start) ?? 0)) start += this.width(start);
        if (start >= text.length) return undefined;
      }
      this.rejectedEnd = mustAdvance && start === from ? from : -1;
      const found = this.at(start);
      if (found) return found;
    }
    return undefined;
  }

  /** A match that starts exactly at `start`; with `whole`, it must end at the end of the text. */
  at(start: number, whole = false): number[] | undefined {
    const end = this.attempt(start, whole);
    if (end < 0) {
      this.visited?.settleSince(0);
      return undefined;
    }
    this.visited?.forgetSince(0);
    this.slots[1] = end;
    return this.slots.slice(0, 2 * (this.program.groups + 1));
  }

  private attempt(start: number, whole: boolean): number {
    const { memory, marks } = this.program;
    if (memory === "always") this.visited ??= new VisitedPlaces(marks, this.text.length);
    const patient = memory === "late" && this.visited === undefined;
    const limit = patient ? Math.min(stepsWithoutMemory, this.limit) : this.limit;
    try {
      return this.fresh(start, whole, limit);
    } catch (error) {
      if (!patient || !(error instanceof RegexBudgetError)) throw error;
      this.visited = new VisitedPlaces(marks, this.text.length);
      return this.fresh(start, whole, this.limit);
    }
  }

  private fresh(start: number, whole: boolean, limit: number): number {
    this.slots = new Array<number>(this.program.slots).fill(-1);
    this.stack.length = 0;
    this.slots[0] = start;
    this.stop = limit;
    return this.run(0, start, whole);
  }

  private width(position: number): number {
    return (this.text.codePointAt(position) ?? 0) > 0xffff ? 2 : 1;
  }

  /** Runs from `entry` to `match`. Returns the end position, or -1. Keeps the frames that are already on the stack. */
  private run(entry: number, start: number, whole = false): number {
    const { text, stack } = this;
    const { instructions } = this.program;
    const base = stack.length;
    const top = entry === 0;
    let pc = entry;
    let position = start;
    for (;;) {
      if (++this.steps > this.stop || stack.length > maxStack) throw new RegexBudgetError(this.steps);
      const step = instructions[pc] as Instruction;
      let failed = false;
      switch (step.op) {
        case "char": {
          const codePoint = text.codePointAt(position);
          if (codePoint !== step.codePoint) failed = true;
          else {
            position += codePoint > 0xffff ? 2 : 1;
            pc++;
          }
          break;
        }
        case "set": {
          const codePoint = text.codePointAt(position);
          if (codePoint === undefined || !step.test(codePoint)) failed = true;
          else {
            position += codePoint > 0xffff ? 2 : 1;
            pc++;
          }
          break;
        }
        case "assert":
          if (holds(text, step, position)) pc++;
          else failed = true;
          break;
        case "save":
          stack.push(RESTORE, step.slot, this.slots[step.slot] ?? -1, 0);
          this.slots[step.slot] = position;
          pc++;
          break;
        case "jump":
          pc = step.target;
          break;
        case "split":
          if (this.seen(step.mark, position)) failed = true;
          else {
            stack.push(CHOICE, step.second, position, 0);
            pc = step.first;
          }
          break;
        case "star": {
          if (this.seen(step.mark, position)) {
            failed = true;
            break;
          }
          if (step.lazy) stack.push(LAZY, pc, position, unlimited);
          else {
            const end = this.runEnd(step, position);
            if (end > position) stack.push(GREEDY, pc + 1, end, position);
            position = end;
          }
          pc++;
          break;
        }
        case "run": {
          if (this.seen(step.mark, position)) {
            failed = true;
            break;
          }
          const least = this.advance(step.test, position, step.min);
          if (least < 0) {
            failed = true;
            break;
          }
          position = least;
          if (step.max > step.min) {
            if (step.lazy) stack.push(LAZY, pc, position, step.max - step.min);
            else {
              const most = this.advanceUpTo(step.test, position, step.max - step.min);
              if (most > position) stack.push(GREEDY, pc + 1, most, position);
              position = most;
            }
          }
          pc++;
          break;
        }
        case "loop-end":
          pc = this.slots[step.slot] === position ? step.out : step.again;
          break;
        case "backreference": {
          const end = this.backreferenceEnd(step, position);
          if (end < 0) failed = true;
          else {
            position = end;
            pc++;
          }
          break;
        }
        case "conditional":
          pc = (this.slots[2 * step.index + 1] ?? -1) >= 0 ? pc + 1 : step.otherwise;
          break;
        case "atomic": {
          const end = this.seen(step.mark, position) ? -1 : this.nested(step.body, position);
          if (end < 0) failed = true;
          else {
            position = end;
            pc++;
          }
          break;
        }
        case "look":
          if (this.seen(step.mark, position) || !this.looks(step, position)) failed = true;
          else pc++;
          break;
        case "match":
          if (!top) return position;
          if ((whole && position !== text.length) || position === this.rejectedEnd) failed = true;
          else return position;
          break;
      }
      if (!failed) continue;
      // Backtracks to the last choice and restores captures on the way.
      for (;;) {
        if (stack.length === base) return -1;
        const height = stack.length - FRAME;
        const kind = stack[height];
        const target = stack[height + 1] as number;
        const place = stack[height + 2] as number;
        const bound = stack[height + 3] as number;
        if (kind === RESTORE) {
          this.slots[target] = place;
          stack.length = height;
          continue;
        }
        this.visited?.settleAbove(height);
        if (kind === CHOICE) {
          stack.length = height;
          pc = target;
          position = place;
          break;
        }
        if (kind === GREEDY) {
          position = before(text, place);
          pc = target;
          if (position > bound) stack[height + 2] = position;
          else stack.length = height;
          break;
        }
        const loop = instructions[target] as { test: CodePointTest; mark: number; op: string };
        const codePoint = text.codePointAt(place);
        if (bound === 0 || codePoint === undefined || !loop.test(codePoint)) {
          stack.length = height;
          continue;
        }
        position = place + (codePoint > 0xffff ? 2 : 1);
        // The loop may have been tried from the next position before.
        if (loop.op === "star" && this.visited?.visit(loop.mark, position, height)) {
          stack.length = height;
          continue;
        }
        stack[height + 2] = position;
        stack[height + 3] = bound - 1;
        pc = target + 1;
        break;
      }
    }
  }

  private seen(mark: number, position: number): boolean {
    return this.visited?.visit(mark, position, this.stack.length) ?? false;
  }

  /** The end of a greedy loop: the first character outside the set, or a position from which the loop was tried before. */
  private runEnd(step: { test: CodePointTest; mark: number }, start: number): number {
    const { text, visited } = this;
    let position = start;
    for (;;) {
      const codePoint = text.codePointAt(position);
      if (codePoint === undefined || !step.test(codePoint)) break;
      const next = position + (codePoint > 0xffff ? 2 : 1);
      if (visited?.visitInRun(step.mark, next)) break;
      position = next;
    }
    this.steps += position - start;
    visited?.openRun(step.mark, start + 1, position, this.stack.length);
    return position;
  }

  /** The position after exactly `count` characters of a set; -1 if the text has fewer. */
  private advance(test: CodePointTest, start: number, count: number): number {
    let position = start;
    for (let done = 0; done < count; done++) {
      const codePoint = this.text.codePointAt(position);
      if (codePoint === undefined || !test(codePoint)) return -1;
      this.steps++;
      position += codePoint > 0xffff ? 2 : 1;
    }
    return position;
  }

  private advanceUpTo(test: CodePointTest, start: number, count: number): number {
    let position = start;
    for (let done = 0; done < count; done++) {
      const codePoint = this.text.codePointAt(position);
      if (codePoint === undefined || !test(codePoint)) break;
      this.steps++;
      position += codePoint > 0xffff ? 2 : 1;
    }
    return position;
  }

  private backreferenceEnd(step: { index: number; ignoreCase: boolean }, position: number): number {
    const start = this.slots[2 * step.index] ?? -1;
    const end = this.slots[2 * step.index + 1] ?? -1;
    if (start < 0 || end < start) return -1;
    this.steps += end - start;
    if (!step.ignoreCase) {
      return this.text.startsWith(this.text.slice(start, end), position) ? position + end - start : -1;
    }
    let here = position;
    for (let there = start; there < end; ) {
      const wanted = this.text.codePointAt(there) ?? 0;
      const actual = this.text.codePointAt(here);
      if (actual === undefined || simpleLower(actual) !== simpleLower(wanted)) return -1;
      there += wanted > 0xffff ? 2 : 1;
      here += actual > 0xffff ? 2 : 1;
    }
    return here;
  }

  /** Runs a part separately. Returns its end, or -1. Keeps its captures and drops its choices. */
  private nested(body: number, position: number): number {
    const base = this.stack.length;
    const open = this.visited?.openCount ?? 0;
    const end = this.run(body, position);
    if (end < 0) {
      this.visited?.settleSince(open);
      return -1;
    }
    this.visited?.forgetSince(open);
    this.keepRestores(base);
    return end;
  }

  private keepRestores(base: number): void {
    const { stack } = this;
    let kept = base;
    for (let height = base; height < stack.length; height += FRAME) {
      if (stack[height] !== RESTORE) continue;
      for (let part = 0; part < FRAME; part++) stack[kept + part] = stack[height + part] as number;
      kept += FRAME;
    }
    stack.length = kept;
  }

  private looks(
    step: { body: number; ahead: boolean; negative: boolean; width: number },
    position: number,
  ): boolean {
    let start = position;
    if (!step.ahead) {
      for (let count = 0; count < step.width; count++) {
        if (start <= 0) return step.negative;
        start = before(this.text, start);
      }
    }
    const base = this.stack.length;
    const saved = step.negative ? this.slots.slice() : undefined;
    const found = this.nested(step.body, start) >= 0;
    if (saved && found) {
      this.slots = saved;
      this.stack.length = base;
    }
    return found !== step.negative;
  }
}
