import { PyFloat } from "../base/python/numbers/door.ts";
import { type ConfigNode, type DictNode, isNull, textOfNode } from "./node.ts";

/** A problem of a block, with its path in the block. */
export interface SchemaProblem {
  path: (string | number)[];
  message: string;
}

/** An optional field may also be null. */
type Need = "required" | "optional";

/** Collects the problems of the raw (not interpolated) values of one mapping. */
export class FieldCheck {
  readonly #block: DictNode;
  readonly #path: (string | number)[];
  readonly problems: SchemaProblem[] = [];

  constructor(block: DictNode, path: (string | number)[]) {
    this.#block = block;
    this.#path = path;
  }

  get(field: string): ConfigNode | undefined {
    return this.#block.entries.get(field);
  }

  /** Whether the field exists and is not null. */
  has(field: string): boolean {
    const node = this.get(field);
    return node !== undefined && !isNull(node);
  }

  text(field: string, need: Need = "optional"): string | undefined {
    const node = this.get(field);
    const text = textOfNode(node);
    if (text !== undefined) return text;
    if (node === undefined && need === "required") this.report(field, "Field required");
    else if (need === "required" || this.has(field)) this.report(field, "Must be a text");
    return undefined;
  }

  /** An integer may also be a text of digits. */
  integer(field: string, minimum?: number): void {
    if (!this.has(field)) return;
    const value = integerFrom(this.get(field));
    if (value === undefined) this.report(field, "Must be an integer");
    else if (minimum !== undefined && value < minimum)
      this.report(field, `Must be greater than or equal to ${minimum}`);
  }

  oneOf<Choice extends string>(
    field: string,
    choices: readonly Choice[],
    need: Need = "optional",
  ): Choice | undefined {
    const value = textOfNode(this.get(field));
    const chosen = choices.find((choice) => choice === value);
    if (chosen !== undefined) return chosen;
    if (!this.has(field)) {
      if (need === "required") this.report(field, "Field required");
      return undefined;
    }
    this.report(field, `Must be one of: ${choices.map((choice) => `'${choice}'`).join(", ")}`);
    return undefined;
  }

  report(field: string, message: string): void {
    this.problems.push({ path: [...this.#path, field], message });
  }
}

/** The integer of a value in a lenient schema: an integer, a whole float, a boolean, or digits in a text. */
export function integerFrom(node: ConfigNode | undefined): number | undefined {
  return node?.kind === "scalar" ? integerOf(node.value) : undefined;
}

export function integerOf(value: unknown): number | undefined {
  if (typeof value === "boolean") return Number(value);
  if (typeof value === "string")
    return /^\s*[+-]?\d+(?:_\d+)*(?:\.0*)?\s*$/.test(value) ? Number(value.replaceAll("_", "")) : undefined;
  const number = value instanceof PyFloat ? value.value : typeof value === "bigint" ? Number(value) : value;
  return Number.isInteger(number) ? (number as number) : undefined;
}
