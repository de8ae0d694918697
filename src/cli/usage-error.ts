import { GymError } from "../errors.ts";

/** The words on the command line do not fit: usage and this message on stderr, exit 2. */
export class UsageError extends GymError {
  constructor(message: string) {
    super("CLI_USAGE", message);
  }
}

/** Keys of the command's own config are missing or have the wrong type; printed like a usage error. */
export class CommandKeysError extends GymError {
  constructor(message: string) {
    super("CLI_COMMAND_KEYS", message);
  }
}
