import { existsSync } from "node:fs";
import { OverrideError } from "../config/errors.ts";
import { Interpolator } from "../config/interpolation/interpolate.ts";
import { mergeDicts } from "../config/merge.ts";
import { checkMissingValues } from "../config/missing-values.ts";
import type { DictNode } from "../config/node.ts";
import { applyOverrides } from "../config/overrides/apply-overrides.ts";
import { readConfigFile } from "../config/read-config-file.ts";
import { SubmitError } from "./errors.ts";

/** The file with the command line's words merged into it and every interpolation resolved. */
export function loadSubmitFile(file: string, words: readonly string[], env: NodeJS.ProcessEnv): DictNode {
  if (!existsSync(file)) throw new SubmitError("SUBMIT_CONFIG", `'${file}' does not exist (--config).`);
  const root = readConfigFile(file);
  mergeDicts(root, applyOverrides(words.map(asReplacement), env), { root, path: [], env });
  checkMissingValues(root);
  return new Interpolator(root, env).resolveDeep(root, []) as DictNode;
}

/** Whether a word has a `+` or not, it adds to the file or replaces what the file says. */
function asReplacement(word: string): string {
  if (word.startsWith("~")) {
    throw new OverrideError(`'${word}': keys cannot be removed from the file of a job; set them to null.`, {
      position: { source: "command line", line: 1, column: 1 },
    });
  }
  return `++${word.replace(/^\++/, "")}`;
}
