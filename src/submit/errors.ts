import { GymError } from "../errors.ts";

export type SubmitErrorCode = "SUBMIT_CONFIG" | "SUBMIT_MOUNT_MISSING" | "SUBMIT_DIRECTORY" | "SUBMIT_TOOL";

/** A job that cannot be described, written or handed to the cluster. */
export class SubmitError extends GymError {
  declare readonly code: SubmitErrorCode;

  constructor(code: SubmitErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}
