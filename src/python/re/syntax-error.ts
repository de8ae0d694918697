import { GymError } from "../../errors.ts";

/** A pattern Python's `re` would refuse as well; `position` counts code points from the start. */
export class RegexSyntaxError extends GymError {
  readonly position: number;

  constructor(message: string, position: number) {
    super("REGEX_SYNTAX", `${message} at position ${position}`);
    this.position = position;
  }
}

/** A match that would take more work than it is given; never raised for patterns without backreferences on texts of usual size. */
export class RegexBudgetError extends GymError {
  constructor(steps: number) {
    super("REGEX_BUDGET", `The search was given up after ${steps} steps.`);
  }
}
