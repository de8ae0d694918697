/**
 * A Python float whose value is a whole number, such as the `1.0` of `{"temperature": 1.0}`.
 *
 * JavaScript numbers cannot tell `1.0` from `1`, so the number-preserving reader (json-loads.ts) wraps these; every other
 * number stays plain: whole numbers are Python ints, the rest (with NaN, infinities and -0) Python floats, bigints are
 * ints beyond 2^53.
 */
export class PyFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }

  valueOf(): number {
    return this.value;
  }

  /** Lets `JSON.stringify` write the plain number; the count tells our own writers that the text lost a `.0`. */
  toJSON(): number {
    plainWrites++;
    return this.value;
  }
}

let plainWrites = 0;

/** How many PyFloats `JSON.stringify` has written without their `.0` so far in this process. */
export function pyFloatPlainWrites(): number {
  return plainWrites;
}

/** Whether Python would see a float here (as opposed to an int). */
export function isPyFloat(value: unknown): value is number | PyFloat {
  return (
    value instanceof PyFloat ||
    (typeof value === "number" && (!Number.isInteger(value) || Object.is(value, -0)))
  );
}

/** Whether Python would see an int here; booleans are not meant. */
export function isPyInt(value: unknown): value is number | bigint {
  return (
    typeof value === "bigint" ||
    (typeof value === "number" && Number.isInteger(value) && !Object.is(value, -0))
  );
}

/** The same data with every PyFloat and bigint turned into a plain number. */
export function toPlainNumbers(value: unknown): unknown {
  if (value instanceof PyFloat) return value.value;
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(toPlainNumbers);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toPlainNumbers(member)]));
}
