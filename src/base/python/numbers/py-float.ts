/**
 * A Python float whose value is a whole number, such as the `1.0` of `{"temperature": 1.0}`.
 *
 * JavaScript numbers do not distinguish `1.0` from `1`, so `loads` wraps such floats. All other numbers are plain: whole
 * numbers are Python ints, other numbers (with NaN, infinities and -0) are Python floats, and bigints are ints beyond 2^53.
 */
export class PyFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }

  valueOf(): number {
    return this.value;
  }

  /** `JSON.stringify` writes the plain number. The count shows our writers that the text lost a `.0`. */
  toJSON(): number {
    plainWrites++;
    return this.value;
  }
}

let plainWrites = 0;

/** The number of PyFloats that `JSON.stringify` has written without `.0` in this process. */
export function pyFloatPlainWrites(): number {
  return plainWrites;
}

/** Whether a value is a float in Python. */
export function isPyFloat(value: unknown): value is number | PyFloat {
  return (
    value instanceof PyFloat ||
    (typeof value === "number" && (!Number.isInteger(value) || Object.is(value, -0)))
  );
}

/** Whether a value is an int in Python, and not a bool. */
export function isPyInt(value: unknown): value is number | bigint {
  return (
    typeof value === "bigint" ||
    (typeof value === "number" && Number.isInteger(value) && !Object.is(value, -0))
  );
}

/** A copy of the data with plain numbers instead of PyFloats and bigints. */
export function toPlainNumbers(value: unknown): unknown {
  if (value instanceof PyFloat) return value.value;
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(toPlainNumbers);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toPlainNumbers(member)]));
}
