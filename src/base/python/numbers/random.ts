const SIZE = 624;
const PERIOD = 397;
const MATRIX = 0x9908b0df;
const UPPER = 0x80000000;
const LOWER = 0x7fffffff;

/** The MT19937 generator: uniform unsigned 32-bit integers. */
export class MersenneTwister {
  readonly #state = new Uint32Array(SIZE);
  #index = SIZE;

  /** Seeds with `init_genrand`, like `numpy.random.seed(n)`. */
  static fromNumber(seed: number): MersenneTwister {
    const generator = new MersenneTwister();
    generator.#init(seed >>> 0);
    return generator;
  }

  /** Seeds with `init_by_array`, like Python's `random.seed(n)`; `key` is |n| as 32-bit words. */
  static fromArray(key: readonly number[]): MersenneTwister {
    const generator = new MersenneTwister();
    generator.#initByArray(key);
    return generator;
  }

  #init(seed: number): void {
    const state = this.#state;
    state[0] = seed;
    for (let i = 1; i < SIZE; i++) {
      const previous = state[i - 1] ?? 0;
      state[i] = Math.imul(1812433253, previous ^ (previous >>> 30)) + i;
    }
    this.#index = SIZE;
  }

  #initByArray(key: readonly number[]): void {
    this.#init(19650218);
    const state = this.#state;
    const mix = (i: number, factor: number) => {
      const previous = state[i - 1] ?? 0;
      return (state[i] ?? 0) ^ Math.imul(previous ^ (previous >>> 30), factor);
    };
    let i = 1;
    let j = 0;
    const advance = () => {
      if (++i < SIZE) return;
      state[0] = state[SIZE - 1] ?? 0;
      i = 1;
    };
    for (let k = Math.max(SIZE, key.length); k > 0; k--) {
      state[i] = mix(i, 1664525) + (key[j] ?? 0) + j;
      advance();
      j = (j + 1) % key.length;
    }
    for (let k = SIZE - 1; k > 0; k--) {
      state[i] = mix(i, 1566083941) - i;
      advance();
    }
    state[0] = UPPER;
  }

  #refill(): void {
    const state = this.#state;
    for (let i = 0; i < SIZE; i++) {
      const y = ((state[i] ?? 0) & UPPER) | ((state[(i + 1) % SIZE] ?? 0) & LOWER);
      state[i] = (state[(i + PERIOD) % SIZE] ?? 0) ^ (y >>> 1) ^ (y & 1 ? MATRIX : 0);
    }
    this.#index = 0;
  }

  /** The next 32 random bits as an unsigned integer. */
  next(): number {
    if (this.#index >= SIZE) this.#refill();
    let y = this.#state[this.#index++] ?? 0;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    y ^= y >>> 18;
    return y >>> 0;
  }
}

/** Python's `random.Random(seed)`. A seed gives the same numbers, choices and shuffles as in Python 3. */
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
    // upstream (CPython): copies the items while the copy is smaller than a set of the chosen positions
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
