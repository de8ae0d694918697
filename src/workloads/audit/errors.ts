import { GymError } from "../../errors.ts";

/** An audit cannot be run: the settings, the rows or the server are not usable. */
export class AuditError extends GymError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("AUDIT", message, options);
  }
}
