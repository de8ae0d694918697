type Numbers = Float64Array | Uint32Array;

/** A typed array that grows by doubling: 8 or 4 bytes a value, whatever the number of rollouts. */
class GrowableArray<Kind extends Numbers> {
  length = 0;
  /** The storage; only the first `length` values mean anything. */
  values: Kind;
  private readonly allocate: (length: number) => Kind;

  constructor(allocate: (length: number) => Kind) {
    this.allocate = allocate;
    this.values = allocate(64);
  }

  push(value: number): void {
    if (this.length === this.values.length) this.grow();
    this.values[this.length++] = value;
  }

  /** The value at `index`, which must have been pushed. */
  at(index: number): number {
    return this.values[index] ?? Number.NaN;
  }

  private grow(): void {
    const larger = this.allocate(this.values.length * 2);
    larger.set(this.values);
    this.values = larger;
  }
}

/** Doubles in a row. */
export class GrowableDoubles extends GrowableArray<Float64Array> {
  constructor() {
    super((length) => new Float64Array(length));
  }
}

/** Whole numbers below 2^32 in a row. */
export class GrowableIntegers extends GrowableArray<Uint32Array> {
  constructor() {
    super((length) => new Uint32Array(length));
  }
}
