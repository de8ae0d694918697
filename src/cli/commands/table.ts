import type { Program } from "../command.ts";
import { completion } from "./completion.ts";
import { envResolve } from "./env-resolve.ts";
import { envValidate } from "./env-validate.ts";

/** Everything `gym` can do. A new command is one file beside this one and one line here. */
export const program: Program = {
  groups: [
    { name: "list", summary: "list available components" },
    { name: "dataset", summary: "manage datasets" },
    { name: "env", summary: "develop and run environments" },
    { name: "eval", summary: "run evaluations" },
    { name: "dev", summary: "contributor helpers" },
  ],
  commands: [envResolve, envValidate, completion],
};
