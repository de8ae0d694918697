import { GymError } from "../../errors.ts";

/** A file of verifier cases cannot be used, or the verifier does not do what it says. */
export class VerifierFixtureError extends GymError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("VERIFIER_FIXTURE", message, options);
  }
}
