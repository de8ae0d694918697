import { existsSync } from "node:fs";
import { isObject } from "../../base/python/json/door.ts";
import { RolloutError } from "../errors.ts";
import { artifactPaths } from "../files/artifact-paths.ts";
import type { Row } from "../files/jsonl-rows.ts";
import { digestFile } from "../files/manifest.ts";
import { inputContents } from "./run-tasks.ts";

/** Input rows, and the rollouts that they should belong to. */
export interface InputsAndRollouts {
  inputsPath: string;
  rolloutsPath: string;
}

/**
 * Rejects input rows that do not belong to the rollouts, because indices match in any two runs. Compares them with the
 * inputs next to the rollouts. Without those it returns false, and the caller compares the rows with
 * `rejectOtherPrompt`.
 */
export async function rejectOtherInputs(
  files: InputsAndRollouts,
  options: { signal?: AbortSignal } = {},
): Promise<boolean> {
  const own = artifactPaths(files.rolloutsPath).materializedInputs;
  if (own === files.inputsPath) return true;
  if (!existsSync(own)) return false;
  const [given, known] = [await digestFile(files.inputsPath, options), await digestFile(own, options)];
  if (given.sha256 === known.sha256) return true;
  const contents = await inputContents(own, () => true, options);
  const others = await inputContents(files.inputsPath, (task) => contents.has(task), options);
  for (const [task, content] of others) if (content !== contents.get(task)) throw otherInputs(files, task);
  return true;
}

/** Rejects an input row whose prompt ends with a text that the rollout's prompt does not have. Agents may add to a prompt. */
export function rejectOtherPrompt(files: InputsAndRollouts, input: Row, rollout: Row): void {
  const asked = promptTexts(rollout);
  const last = promptTexts(input).at(-1);
  if (last === undefined || asked.length === 0 || asked.some((text) => text.includes(last))) return;
  throw otherInputs(files, rollout["_ng_task_index"] as number);
}

function promptTexts(row: Row): string[] {
  const params = row["responses_create_params"];
  return isObject(params) ? textsIn(params["input"]) : [];
}

/** The texts of messages and of their parts, in order. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? textsIn(value["content"] ?? value["text"]) : [];
}

function otherInputs({ inputsPath, rolloutsPath }: InputsAndRollouts, task: number): RolloutError {
  return new RolloutError(
    "ROLLOUT_OTHER_INPUTS",
    `'${inputsPath}' does not contain the inputs of '${rolloutsPath}': task ${task} differs. ` +
      `Pass the inputs of the same run (usually '${artifactPaths(rolloutsPath).materializedInputs}').`,
  );
}
