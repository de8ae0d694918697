import { type ErrorCodeRow, GymError } from "../errors.ts";

/** Codes of the command line itself. */
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
  {
    code: "UNKNOWN_AGENT",
    class: "GymError",
    when: "The agent asked for does not run, or several run and none was chosen.",
    fix: "Choose one of the agents listed with `--agent`.",
  },
  {
    code: "ENV_STOP",
    class: "GymError",
    when: "`gym env stop` finds servers, but cannot stop the process that runs them.",
    fix: "Stop it where it was started, as the user who started it.",
  },
  {
    code: "ROW_FILE",
    class: "GymError",
    when: "A row of a JSONL file cannot be read.",
    fix: "Check the file, and that the line exists and is JSON.",
  },
  {
    code: "EVAL_NO_SPLIT",
    class: "GymError",
    when: "The config has no dataset of the type asked for.",
    fix: "Use a split of the datasets listed.",
  },
  {
    code: "EVAL_CTL",
    class: "GymError",
    when: "The collection to steer does not run, was not chosen, or refused.",
    fix: "Choose one of those listed with `--pid`.",
  },
  {
    code: "SERVER_FOLDER",
    class: "GymError",
    when: "`entrypoint` is not the folder of a server, or no server has that name.",
    fix: "Give two parts, such as `resources_servers/my_server`; `gym list` shows what there is.",
  },
  {
    code: "TEST_RUNNER",
    class: "GymError",
    when: "A project with tests has no vitest installed, or none of its packages.",
    fix: "`npm install --save-dev vitest`, or `npm install`, in that project.",
  },
  {
    code: "CLI_TOOL",
    class: "GymError",
    when: "A program that a command runs (npm, vitest, Python) cannot be started or fails.",
    fix: "The message quotes the program.",
  },
] as const satisfies readonly ErrorCodeRow[];

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
