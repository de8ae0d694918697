const INITIAL_LENGTH = 64;
const GROWTH = 1.5;

type Values = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** Bytes of a number in a column. */
export type Width = 1 | 2 | 4 | 8;

/**
 * Numbers of one column, in the narrowest array that holds them all: most counts of rollouts are small, and many
 * columns are empty. Integers are stored plus one, and 0 means missing. Any other number converts the column to
 * doubles, where NaN means missing.
 */
export class NumberColumn {
  #values: Values = new Uint8Array(INITIAL_LENGTH);
  /** The largest integer that the array holds. */
  #most = largestOf(1);
  #isWhole = true;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get width(): Width {
    return this.#values.BYTES_PER_ELEMENT as Width;
  }

  /** Adds a number; NaN if missing. */
  push(value: number): void {
    if (this.#isWhole && !(value >= 0 && value <= this.#most && value % 1 === 0) && !Number.isNaN(value))
      this.#widen(value);
    if (this.#length === this.#values.length)
      this.#values = copied(this.#values, arrayOf(this.width, Math.ceil(this.#length * GROWTH)));
    this.#values[this.#length++] = !this.#isWhole ? value : Number.isNaN(value) ? 0 : value + 1;
  }

  /** The number at `index`, which must have been pushed; NaN if missing. */
  at(index: number): number {
    const value = this.#values[index] ?? Number.NaN;
    if (!this.#isWhole) return value;
    return value === 0 ? Number.NaN : value - 1;
  }

  /** The numbers in the format of `restored`. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.#values.buffer, 0, this.#length * this.width);
  }

  /** Creates a column from its bytes, which it keeps. */
  static restored(bytes: ArrayBuffer, width: Width): NumberColumn {
    const column = new NumberColumn();
    column.#values = arrayOf(width, bytes);
    column.#length = bytes.byteLength / width;
    column.#most = largestOf(width);
    column.#isWhole = width < 8;
    return column;
  }

  #widen(value: number): void {
    const isWhole = value >= 0 && value % 1 === 0;
    const width = ([2, 4] as const).find(
      (wider) => wider > this.width && isWhole && value <= largestOf(wider),
    );
    const larger = arrayOf(width ?? 8, this.#values.length);
    if (width === undefined)
      for (let index = 0; index < this.#length; index++) larger[index] = this.at(index);
    else copied(this.#values, larger);
    this.#values = larger;
    this.#isWhole = width !== undefined;
    this.#most = largestOf(width ?? 8);
  }
}

function largestOf(width: Width): number {
  return width === 8 ? Number.POSITIVE_INFINITY : 2 ** (8 * width) - 2;
}

function arrayOf(width: Width, content: number | ArrayBuffer): Values {
  // `as number`: the constructors accept both types, but their declarations do not accept a union.
  const given = content as number;
  switch (width) {
    case 1:
      return new Uint8Array(given);
    case 2:
      return new Uint16Array(given);
    case 4:
      return new Uint32Array(given);
    case 8:
      return new Float64Array(given);
  }
}

function copied(from: Values, into: Values): Values {
  into.set(from);
  return into;
}

/** A number of a column; null if missing. */
export function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
