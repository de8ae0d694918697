import type { ErrorCodeRow } from "../config/error-codes.ts";

/** Codes of the command line frame itself. */
export const cliErrorCodes = [
  {
    code: "CLI_USAGE",
    class: "UsageError",
    when: "A command, flag, choice or component name is unknown, or words are missing or exclude one another.",
    fix: "Follow the usage line above the message; `--help` shows all flags.",
  },
  {
    code: "CLI_COMMAND_KEYS",
    class: "CommandKeysError",
    when: "Config keys the command itself reads are missing or have the wrong type.",
    fix: "Give each by its flag or as a `+key=value` override; `+h=true` lists them.",
  },
] as const satisfies readonly ErrorCodeRow[];
