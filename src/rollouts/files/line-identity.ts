import { createHash } from "node:crypto";
import type { JsonlLine } from "./jsonl-rows.ts";

const INITIAL_SLOTS = 1024;
const MAX_LOAD = 0.6;
/** Three words of fingerprint, and the number plus one (0: free). */
const WORDS = 4;

/**
 * Numbers distinct lines in order of first appearance. Lines are identified by 96 bits of their SHA-256, 16 bytes per
 * slot, so a million long lines need about thirty megabytes instead of their text.
 */
export class LineNumbering {
  private slots = new Uint32Array(INITIAL_SLOTS * WORDS);
  private used = 0;
  private lastText: string | undefined;
  private lastTerminated = false;
  private lastNumber = 0;

  /**
   * The number of this line's text: a new one, or that of the first equal line. A line without newline is a different
   * text.
   */
  numberOf(line: Pick<JsonlLine, "text" | "terminated">): number {
    // Collated files repeat a row on consecutive lines.
    if (line.text === this.lastText && line.terminated === this.lastTerminated) return this.lastNumber;
    const number = this.lookUp(fingerprint(line));
    this.lastText = line.text;
    this.lastTerminated = line.terminated;
    this.lastNumber = number;
    return number;
  }

  private lookUp(print: Uint32Array): number {
    const at = slotOf(this.slots, print, 0);
    const stored = this.slots[at + WORDS - 1] ?? 0;
    if (stored !== 0) return stored - 1;
    const number = this.used++;
    this.slots.set(print, at);
    this.slots[at + WORDS - 1] = number + 1;
    if (this.used > (this.slots.length / WORDS) * MAX_LOAD) this.grow();
    return number;
  }

  private grow(): void {
    const larger = new Uint32Array(this.slots.length * 2);
    for (let from = 0; from < this.slots.length; from += WORDS) {
      if (this.slots[from + WORDS - 1] === 0) continue;
      const to = slotOf(larger, this.slots, from);
      for (let word = 0; word < WORDS; word++) larger[to + word] = this.slots[from + word] ?? 0;
    }
    this.slots = larger;
  }
}

/** The slot of the fingerprint at `words[from…]`, or the free slot for it. */
function slotOf(slots: Uint32Array, words: Uint32Array, from: number): number {
  const mask = slots.length / WORDS - 1;
  for (let slot = (words[from] ?? 0) & mask; ; slot = (slot + 1) & mask) {
    const at = slot * WORDS;
    if (slots[at + WORDS - 1] === 0) return at;
    let word = 0;
    while (word < WORDS - 1 && slots[at + word] === words[from + word]) word++;
    if (word === WORDS - 1) return at;
  }
}

function fingerprint(line: Pick<JsonlLine, "text" | "terminated">): Uint32Array {
  const text = line.terminated ? `${line.text}\n` : line.text;
  const digest = createHash("sha256").update(text).digest();
  return Uint32Array.of(digest.readUInt32LE(0), digest.readUInt32LE(4), digest.readUInt32LE(8));
}
