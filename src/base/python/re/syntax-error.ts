import { GymError } from "../../errors.ts";

/** A pattern that Python's `re` rejects too. `position` counts code points. */
export class RegexSyntaxError extends GymError {
  readonly position: number;

  constructor(message: string, position: number) {
    super("REGEX_SYNTAX", `${message} at position ${position}`);
    this.position = position;
  }
}

/** A search that takes too many steps. Patterns without backreferences never cause it on texts of usual size. */
export class RegexBudgetError extends GymError {
  constructor(steps: number) {
    super("REGEX_BUDGET", `The search was stopped after ${steps} steps.`);
  }
}
