import type { ErrorTable } from "../errors.ts";

/** Codes of files and directories. */
export const fileErrorCodes = {
  GymError: {
    PRIVATE_DIRECTORY: {
      when: "The directory for the sockets of this user is a link, belongs to another user or is open to others.",
      fix: "Remove it, or set `XDG_RUNTIME_DIR` or `TMPDIR` to your own directory.",
    },
    GLOB_TOO_WIDE: {
      when: "A shell pattern matches more than 100,000 paths.",
      fix: "Give a narrower pattern.",
    },
  },
} satisfies ErrorTable;
