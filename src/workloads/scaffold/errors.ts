import { GymError } from "../../errors.ts";

/** A scaffold cannot be made as asked. */
export class ScaffoldError extends GymError {
  constructor(message: string) {
    super("SCAFFOLD", message);
  }
}
