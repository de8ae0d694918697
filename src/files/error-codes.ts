import type { ErrorCodeRow } from "../errors.ts";

/** Codes of files and directories. */
export const fileErrorCodes = [
  {
    code: "PRIVATE_DIRECTORY",
    class: "GymError",
    when: "The directory for the sockets of this user is a link, belongs to another user or is open to others.",
    fix: "Remove it, or set `XDG_RUNTIME_DIR` or `TMPDIR` to a directory of your own.",
  },
  {
    code: "GLOB_TOO_WIDE",
    class: "GymError",
    when: "A shell pattern matches more than 100,000 paths.",
    fix: "Give a narrower pattern.",
  },
] as const satisfies readonly ErrorCodeRow[];
