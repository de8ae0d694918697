import { type ErrorTable, GymError } from "../base/errors.ts";

/** Codes of the command line itself. */
export const cliErrorCodes = {
  UsageError: {
    CLI_USAGE: {
      when: "A command, flag, choice or component name is unknown, or arguments are missing or cannot be combined.",
      fix: "Follow the usage line above the message; `--help` shows all flags.",
    },
  },
  CommandKeysError: {
    CLI_COMMAND_KEYS: {
      when: "Config keys the command itself reads are missing or have the wrong type.",
      fix: "Set each with its flag or as a `+key=value` override; `+h=true` lists them.",
    },
  },
  GymError: {
    UNKNOWN_AGENT: {
      when: "The requested agent is not running, or several agents are running and none was selected.",
      fix: "Select one of the listed agents with `--agent`.",
    },
    ENV_STOP: {
      when: "`gym env stop` finds servers, but cannot stop the process that runs them.",
      fix: "Stop it where it was started, as the user who started it.",
    },
    ROW_FILE: {
      when: "A row of a JSONL file cannot be read.",
      fix: "Check the file, and that the line exists and is JSON.",
    },
    EVAL_CTL: {
      when: "The run to control is not in progress, was not selected, or rejected the request.",
      fix: "Select one of the listed runs with `--pid`.",
    },
    SERVER_FOLDER: {
      when: "`entrypoint` is not the folder of a server, or no server has that name.",
      fix: "Give two parts, such as `resources_servers/my_server`; `gym list` shows the servers.",
    },
    TEST_RUNNER: {
      when: "A project with tests has no vitest installed, or none of its packages.",
      fix: "`npm install --save-dev vitest`, or `npm install`, in that project.",
    },
    CLI_TOOL: {
      when: "A program that a command runs (npm, vitest, Python) cannot be started or fails.",
      fix: "The message quotes the program.",
    },
  },
} satisfies ErrorTable;

/** Invalid words on the command line: prints usage and this message to stderr, exit 2. */
export class UsageError extends GymError {
  constructor(message: string) {
    super("CLI_USAGE", message);
  }
}

/** Missing or mistyped keys of the command's config; printed like a usage error. */
export class CommandKeysError extends GymError {
  constructor(message: string) {
    super("CLI_COMMAND_KEYS", message);
  }
}
