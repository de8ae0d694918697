import { GymError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";

/** Something a conversion had to leave out because the target has no place for it. */
export interface Loss {
  /** Where it stood in the source, such as `text.format` or `input.2.content`. */
  field: string;
  reason: string;
}

/** Called for every loss. docs/reference/model-conversions.md lists the documented ones. */
export type OnLoss = (loss: Loss) => void;

/** Why a conversion failed: the target cannot express it, or the value itself is unusable. */
export type ConversionFailure = "unsupported" | "value";

/** A request or answer that cannot be converted to the other dialect. */
export class ConversionError extends GymError {
  readonly failure: ConversionFailure;

  constructor(failure: ConversionFailure, message: string, options?: { cause?: unknown }) {
    super(failure === "unsupported" ? "CONVERSION_UNSUPPORTED" : "CONVERSION_VALUE", message, options);
    this.failure = failure;
  }
}

/** Fails because the target dialect has no form for what was given. */
export function unsupported(message: string): never {
  throw new ConversionError("unsupported", message);
}

/** Fails because a value is missing or has the wrong shape. */
export function badValue(message: string): never {
  throw new ConversionError("value", message);
}

const MAX_KNOWN = 1_000;
const OPENING = "a conversion leaves out ";

/** Whether a line of a server's log reports a loss: worth knowing, but no reason to stop a run. */
export function tellsOfLoss(line: string): boolean {
  return line.replace(/^warning: /, "").startsWith(OPENING);
}

/** Logs each kind of loss once, not once per call. */
export class LossLog {
  readonly #log: Logger;
  readonly #known = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  report({ field, reason }: Loss): void {
    // Positions differ from call to call; what is lost does not.
    const kind = `${field.replace(/\.\d+/g, "")}: ${reason}`;
    if (this.#known.has(kind) || this.#known.size >= MAX_KNOWN) return;
    this.#known.add(kind);
    this.#log.warn(`${OPENING}${kind}`);
  }
}
