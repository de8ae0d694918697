const INITIAL_SLOTS = 1024;
const MAX_LOAD = 0.6;

/**
 * Counts distinct strings by 64-bit fingerprints, so that long unique strings do not stay in memory. The probability that two
 * of ten million different strings have the same fingerprint is about three in a million.
 */
export class DistinctCounter {
  private slots = new Uint32Array(INITIAL_SLOTS * 2);
  private used = 0;

  /** The number of different strings. */
  get size(): number {
    return this.used;
  }

  add(text: string): void {
    const { low, high } = fingerprint(text);
    this.insertPair(low, high);
  }

  /** Adds all strings of `other`. */
  merge(other: DistinctCounter): void {
    forEachPair(other.slots, (low, high) => this.insertPair(low, high));
  }

  private insertPair(low: number, high: number): void {
    if (!insert(this.slots, low, high)) return;
    this.used++;
    if (this.used > (this.slots.length / 2) * MAX_LOAD) this.grow();
  }

  private grow(): void {
    const larger = new Uint32Array(this.slots.length * 2);
    forEachPair(this.slots, (low, high) => insert(larger, low, high));
    this.slots = larger;
  }
}

function forEachPair(slots: Uint32Array, use: (low: number, high: number) => void): void {
  for (let at = 0; at < slots.length; at += 2) {
    const low = slots[at] ?? 0;
    const high = slots[at + 1] ?? 0;
    if (low !== 0 || high !== 0) use(low, high);
  }
}

/** Open addressing with linear probing; a slot of zeros is free. Returns true if the pair is new. */
function insert(slots: Uint32Array, low: number, high: number): boolean {
  const mask = slots.length / 2 - 1;
  for (let slot = low & mask; ; slot = (slot + 1) & mask) {
    const at = slot * 2;
    if (slots[at] === low && slots[at + 1] === high) return false;
    if (slots[at] === 0 && slots[at + 1] === 0) {
      slots[at] = low;
      slots[at + 1] = high;
      return true;
    }
  }
}

function fingerprint(text: string): { low: number; high: number } {
  let low = 0xdeadbeef ^ text.length;
  let high = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x9e3779b1);
    high = Math.imul(high ^ unit, 0x5f356495);
    high = (high << 13) | (high >>> 19);
  }
  low = avalanche(low ^ (high >>> 7));
  high = avalanche(high ^ (low >>> 5));
  return low === 0 && high === 0 ? { low: 1, high: 0 } : { low, high };
}

/** The 32-bit finalizer of murmur3. */
function avalanche(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
