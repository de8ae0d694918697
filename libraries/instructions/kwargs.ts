import { strip } from "nemo-gym/python";

/** The arguments of an instruction are invalid; the instruction counts as not followed. */
export class KwargsError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "KwargsError";
  }
}

export type Relation = "less than" | "at least";

/** The arguments of an instruction in the row, read with the expected types. */
export class Kwargs {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  /** The argument as it is in the row. */
  value(name: string): unknown {
    return this.#values[name];
  }

  text(name: string): string {
    const value = this.#values[name];
    if (typeof value !== "string") throw new KwargsError(`${name} must be a text`);
    return value;
  }

  /** A text that must not be empty. */
  required(name: string): string {
    const value = this.text(name);
    if (value === "") throw new KwargsError(`${name} must not be empty`);
    return value;
  }

  /** A word or pattern, without white space around it. */
  word(name: string): string {
    return strip(this.required(name));
  }

  number(name: string): number {
    const value = this.#values[name];
    if (typeof value === "boolean") return Number(value);
    if (typeof value !== "number") throw new KwargsError(`${name} must be a number`);
    return value;
  }

  /** A count. */
  count(name: string): number {
    const value = this.number(name);
    if (value < 0) throw new KwargsError(`${name} must not be negative`);
    return value;
  }

  /** A place, counted from 1. */
  position(name: string): number {
    const value = this.number(name);
    if (!Number.isInteger(value) || value < 1) throw new KwargsError(`${name} must be 1 or more`);
    return value;
  }

  list(name: string): readonly string[] {
    const value = this.#values[name];
    const items = typeof value === "string" ? [...value] : value;
    if (!Array.isArray(items) || items.length === 0 || !items.every((item) => typeof item === "string")) {
      throw new KwargsError(`${name} must be a list of texts`);
    }
    return items;
  }

  /** A word, or the first of a list of words. */
  firstWord(name: string): string {
    const value = this.#values[name];
    return Array.isArray(value) ? strip(this.list(name)[0] ?? "") : this.word(name);
  }

  relation(name: string): Relation {
    const value = this.text(name);
    if (value !== "less than" && value !== "at least") {
      throw new KwargsError(`${name} must be 'less than' or 'at least'`);
    }
    return value;
  }
}

/** Whether a count satisfies the relation of the instruction. */
export function compare(count: number, relation: Relation, limit: number): boolean {
  return relation === "less than" ? count < limit : count >= limit;
}
