import { RegexBudgetError } from "./syntax-error.ts";

/** 64 MB: enough for a pattern with fifty loops on a text of ten million characters. */
const maxWords = 16 * 1024 * 1024;

/**
 * A set of visited (mark, position) pairs. A pair is open while the matcher tries to continue from it, and settled when all
 * continuations have failed. A match removes the open pairs. Settled pairs stay valid for later searches in the same text.
 */
export class VisitedPlaces {
  private readonly words: Uint32Array;
  private readonly stride: number;
  /** Runs of open pairs, three numbers each: first bit, last bit, height of the backtrack stack when they were added. */
  private readonly open: number[] = [];

  constructor(marks: number, length: number) {
    this.stride = length + 1;
    const size = Math.ceil((marks * this.stride) / 32);
    if (size > maxWords) throw new RegexBudgetError(size);
    this.words = new Uint32Array(size);
  }

  get openCount(): number {
    return this.open.length;
  }

  /** Adds a pair. Returns whether the set already had it. */
  visit(mark: number, position: number, height: number): boolean {
    const bit = mark * this.stride + position;
    if (!this.set(bit)) return true;
    this.open.push(bit, bit, height);
    return false;
  }

  /** Like `visit`, for a pair of a run that `openRun` opens afterwards. */
  visitInRun(mark: number, position: number): boolean {
    return !this.set(mark * this.stride + position);
  }

  openRun(mark: number, first: number, last: number, height: number): void {
    if (last >= first) this.open.push(mark * this.stride + first, mark * this.stride + last, height);
  }

  private set(bit: number): boolean {
    const word = bit >>> 5;
    const mask = 1 << (bit & 31);
    const value = this.words[word] ?? 0;
    if ((value & mask) !== 0) return false;
    this.words[word] = value | mask;
    return true;
  }

  /** Settles the pairs that were added above `height` of the stack. */
  settleAbove(height: number): void {
    const { open } = this;
    while (open.length > 0 && (open[open.length - 1] as number) > height) open.length -= 3;
  }

  /** Settles the pairs that were opened since `count`. */
  settleSince(count: number): void {
    this.open.length = count;
  }

  /** Removes the pairs that were opened since `count`: they led to a match and may do so again. */
  forgetSince(count: number): void {
    const { open, words } = this;
    for (let index = count; index < open.length; index += 3) {
      const last = open[index + 1] as number;
      for (let bit = open[index] as number; bit <= last; bit++) {
        const word = bit >>> 5;
        words[word] = (words[word] as number) & ~(1 << (bit & 31));
      }
    }
    open.length = count;
  }
}
