const SIZE = 624;
const PERIOD = 397;
const MATRIX = 0x9908b0df;
const UPPER = 0x80000000;
const LOWER = 0x7fffffff;

/** The MT19937 generator: uniform unsigned 32-bit integers. */
export class MersenneTwister {
  readonly #state = new Uint32Array(SIZE);
  #index = SIZE;

  /** `init_genrand`, as `numpy.random.seed(n)` does it. */
  static fromNumber(seed: number): MersenneTwister {
    const generator = new MersenneTwister();
    generator.#init(seed >>> 0);
    return generator;
  }

  /** `init_by_array`, as Python's `random.seed(n)` does it with the 32-bit words of |n|. */
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
