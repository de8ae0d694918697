import { GymError } from "../../errors.ts";

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
