import { GymError } from "../errors.ts";

/** Text that is not in the format it should be in. */
export class FormatError extends GymError {
  constructor(format: string, message: string) {
    super("FORMAT_INVALID", `${format}: ${message}`);
  }
}
