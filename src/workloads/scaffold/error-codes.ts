import type { ErrorCodeRow } from "../../errors.ts";

/** Codes of `gym env init`. */
export const scaffoldErrorCodes = [
  {
    code: "SCAFFOLD",
    class: "ScaffoldError",
    when: "The name of a new component is not usable, or a file that would be created exists and differs.",
    fix: "Choose a name of lower-case letters, digits and `_`, or move the file away; nothing is ever overwritten.",
  },
] as const satisfies readonly ErrorCodeRow[];
