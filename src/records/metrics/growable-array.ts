const INITIAL_LENGTH = 64;

/**
 * A typed array of doubles that grows by doubling, 8 bytes per value.
 *
 * The two classes duplicate each other on purpose: code that sees both kinds of array runs several times slower.
 */
export class GrowableDoubles {
  length = 0;
  /** The storage; only the first `length` values are valid. */
  values = new Float64Array(INITIAL_LENGTH);

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new Float64Array(this.values.length * 2);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  /** The value at `index`, which must have been pushed. */
  at(index: number): number {
    return this.values[index] ?? Number.NaN;
  }
}

/** A growable array of integers below 2^32, 4 bytes each. */
export class GrowableIntegers {
  length = 0;
  values = new Uint32Array(INITIAL_LENGTH);

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new Uint32Array(this.values.length * 2);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  at(index: number): number {
    return this.values[index] ?? Number.NaN;
  }
}
