import type { Logger } from "../../base/door.ts";
import { GymError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/python/json/door.ts";

/** A value that a conversion leaves out because the target format has no equivalent. */
export interface Loss {
  /** The path of the value in the source, such as `text.format` or `input.2.content`. */
  field: string;
  reason: string;
  /** Without the value the answer is another one than the client asked for. Model servers reject such requests. */
  essential?: boolean;
}

/** Called for every loss. docs/reference/model-conversions.md lists them. */
export type OnLoss = (loss: Loss) => void;

/** Why a conversion failed: the target format has no equivalent, or the value is invalid. */
export type ConversionFailure = "unsupported" | "value";

/** A request or answer cannot be converted to the other API. */
export class ConversionError extends GymError {
  readonly failure: ConversionFailure;

  constructor(failure: ConversionFailure, message: string, options?: { cause?: unknown }) {
    super(failure === "unsupported" ? "CONVERSION_UNSUPPORTED" : "CONVERSION_VALUE", message, options);
    this.failure = failure;
  }
}

/** Throws because the target format has no equivalent for a value. */
export function unsupported(message: string): never {
  throw new ConversionError("unsupported", message);
}

/** Throws because a value is missing or invalid. */
export function badValue(message: string): never {
  throw new ConversionError("value", message);
}

/** The text under a name, or `missing` if there is none. `where` names the object in the error. */
export function textAt(object: JsonObject, name: string, where: string, missing?: string): string {
  const { [name]: value = missing } = object;
  return typeof value === "string" ? value : badValue(`${where}.${name} must be text`);
}

const MAX_KNOWN = 1_000;
const OPENING = "a conversion leaves out ";

/** With observability a line begins with its rollout. */
const LOSS_LINE = new RegExp(`^(?:\\[[^\\]]*\\] )?(?:warning: )?${OPENING}`);

/** Whether a line in the log of a server reports a loss. */
export function tellsOfLoss(line: string): boolean {
  return LOSS_LINE.test(line);
}

/** Logs each kind of loss once. */
export class LossLog {
  readonly #log: Logger;
  readonly #known = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  report({ field, reason }: Loss): void {
    // Indexes differ between calls, so they are not part of the kind.
    const kind = `${field.replace(/\.\d+/g, "")}: ${reason}`;
    if (this.#known.has(kind) || this.#known.size >= MAX_KNOWN) return;
    this.#known.add(kind);
    this.#log.warn(`${OPENING}${kind}`);
  }
}
