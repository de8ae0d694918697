import type { ErrorTable } from "../../base/errors.ts";

/** Codes of agents that run other programs. */
export const agentErrorCodes = {
  HarnessError: {
    HARNESS_UNAVAILABLE: {
      when: "A command-line harness is not installed and npm could not install it.",
      fix: "Read npm's message; `gym env prefetch` installs harnesses ahead of a run.",
    },
  },
} satisfies ErrorTable;
