import { GymError } from "../errors.ts";
import type { queueErrorCodes } from "./error-codes.ts";

export type QueueErrorCode = (typeof queueErrorCodes)[number]["code"];

/** Something is wrong between this process, the broker and the store of a run. */
export class QueueError extends GymError {
  constructor(code: QueueErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}
