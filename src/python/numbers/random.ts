import { MersenneTwister } from "./mersenne-twister.ts";

/** Python's `random.Random(seed)`: the same seed gives the same numbers, choices and shuffles as in Python 3. */
export class PyRandom {
  readonly #twister: MersenneTwister;

  constructor(seed: number | bigint) {
    let rest = BigInt(seed);
    if (rest < 0n) rest = -rest;
    const words: number[] = [];
    do {
      words.push(Number(rest & 0xffffffffn));
      rest >>= 32n;
    } while (rest > 0n);
    this.#twister = MersenneTwister.fromArray(words);
  }

  /** A float in [0, 1). */
  random(): number {
    const high = this.#twister.next() >>> 5;
    const low = this.#twister.next() >>> 6;
    return (high * 2 ** 26 + low) / 2 ** 53;
  }

  /** `getrandbits(count)`, for at most 53 bits. */
  bits(count: number): number {
    if (count === 0) return 0;
    if (count <= 32) return this.#twister.next() >>> (32 - count);
    const low = this.#twister.next();
    return (this.#twister.next() >>> (64 - count)) * 2 ** 32 + low;
  }

  /** An integer in [0, limit), for a limit below 2^53. */
  below(limit: number): number {
    if (!Number.isSafeInteger(limit) || limit <= 0)
      throw new RangeError(`${limit} is not a limit to draw below`);
    const high = Math.floor(limit / 2 ** 32);
    const width = high > 0 ? 64 - Math.clz32(high) : 32 - Math.clz32(limit);
    for (;;) {
      const value = this.bits(width);
      if (value < limit) return value;
    }
  }

  /** `randint(low, high)`: both ends included. */
  int(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** `uniform(low, high)`. */
  uniform(low: number, high: number): number {
    return low + (high - low) * this.random();
  }

  /** `choice(items)`. */
  choice<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  /** `shuffle(items)`, in place. */
  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [items[i], items[j]] = [items[j] as T, items[i] as T];
    }
    return items;
  }

  /** `sample(items, count)`: distinct positions, in the order drawn. */
  sample<T>(items: readonly T[], count: number): T[] {
    const size = items.length;
    if (count > size) throw new RangeError(`cannot draw ${count} of ${size} items`);
    // Python keeps a pool while that is smaller than a set of the chosen positions.
    const setSize = count > 5 ? 21 + 4 ** Math.ceil(Math.log(count * 3) / Math.log(4)) : 21;
    if (size <= setSize) {
      const pool = [...items];
      return Array.from({ length: count }, (_, i) => {
        const j = this.below(size - i);
        const item = pool[j] as T;
        pool[j] = pool[size - i - 1] as T;
        return item;
      });
    }
    const taken = new Set<number>();
    return Array.from({ length: count }, () => {
      let j = this.below(size);
      while (taken.has(j)) j = this.below(size);
      taken.add(j);
      return items[j] as T;
    });
  }
}
