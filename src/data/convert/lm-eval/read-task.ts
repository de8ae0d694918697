import { readFile } from "node:fs/promises";
import path from "node:path";
import { errorMessage } from "../../../base/errors.ts";
import { pyStr } from "../../../base/python/door.ts";
import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import { suggest } from "../../../base/suggest.ts";
import { parseYamlValue } from "../../../config/formats/door.ts";
import { DatasetError } from "../../errors.ts";

/** How `!function module.name` appears after reading: Python code, which is never run. */
const FUNCTION = /^!function\s+(\S+)$/;
const MAX_INCLUDES = 32;

export const OUTPUT_TYPES = [
  "generate_until",
  "multiple_choice",
  "loglikelihood",
  "loglikelihood_rolling",
] as const;
export type OutputType = (typeof OUTPUT_TYPES)[number];

/** The keys of a task file after its includes. */
export type TaskKeys = Readonly<Record<string, unknown>>;

/** The name of a Python function, if the value refers to one. */
export function functionName(value: unknown): string | undefined {
  return typeof value === "string" ? FUNCTION.exec(value)?.[1] : undefined;
}

/** Reads a task file of lm-evaluation-harness with the files that it includes; its own keys win. */
export async function readTaskFile(file: string, seen: readonly string[] = []): Promise<TaskKeys> {
  if (seen.includes(file) || seen.length >= MAX_INCLUDES)
    throw invalidTask(
      file,
      `includes itself: ${[...seen, file].map((name) => path.basename(name)).join(" → ")}`,
    );
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const by = seen.at(-1);
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT" && by !== undefined;
    throw missing ? invalidTask(by, `includes '${file}', which does not exist`) : error;
  }
  const { include, ...own } = readKeys(text, file);
  let merged: Record<string, unknown> = {};
  for (const name of [include ?? []].flat()) {
    const included = await readTaskFile(path.resolve(path.dirname(file), String(name)), [...seen, file]);
    merged = { ...merged, ...included };
  }
  return { ...merged, ...own };
}

/** `!function` is a YAML tag; here it becomes text, so that the file is read without Python. */
function readKeys(text: string, file: string): JsonObject {
  const quoted = text.replace(
    /^(\s*(?:-\s+)?(?:[\w-]+|"[^"\n]*"|'[^'\n]*'):\s+|\s*-\s+)!function\s+["']?([\w./-]+)["']?[ \t]*(#.*)?$/gm,
    (_, key: string, name: string) => `${key}"!function ${name}"`,
  );
  let keys: unknown;
  try {
    keys = plain(parseYamlValue(quoted));
  } catch (error) {
    const [, at] = / at character (\d+)/.exec(errorMessage(error)) ?? [];
    const line = at === undefined ? "" : `:${text.slice(0, Number(at)).split("\n").length}`;
    throw invalidTask(`${file}${line}`, `is not YAML: ${errorMessage(error)}`);
  }
  if (!isObject(keys)) throw invalidTask(file, "is not a mapping of keys");
  return keys;
}

/** The reader makes a Map of a mapping with keys that are not texts. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  const entries = value instanceof Map ? [...value] : isObject(value) ? Object.entries(value) : undefined;
  return entries === undefined
    ? value
    : Object.fromEntries(entries.map(([key, item]) => [pyStr(key), plain(item)]));
}

export function invalidTask(file: string, problem: string): DatasetError {
  return new DatasetError("DATASET_LM_EVAL", `${file} ${problem}.`);
}

/** Whether a YAML file is a task, or a group of tasks. */
export function looksLikeTask(keys: unknown): boolean {
  return isObject(keys) && ("task" in keys || "doc_to_text" in keys || "dataset_path" in keys);
}

/** Fails for a file that is not one task, or whose prompts need Python code or images. */
export function checkConvertible(
  keys: TaskKeys,
  file: string,
  { isProcessed }: { isProcessed: boolean },
): void {
  const { task, group, output_type: type = "generate_until" } = keys;
  if (Array.isArray(task)) {
    const members = task.map((member) => (isObject(member) ? String(member["task"]) : String(member)));
    throw invalidTask(
      file,
      `is a group${group === undefined ? "" : ` (${String(group)})`} of ${members.length} tasks; convert each task by itself: ${members.slice(0, 8).join(", ")}${members.length > 8 ? ", …" : ""}`,
    );
  }
  if (!OUTPUT_TYPES.includes(type as OutputType)) {
    const nearest = suggest(String(type), OUTPUT_TYPES);
    throw invalidTask(
      file,
      `has the output_type '${String(type)}'${nearest === undefined ? "" : `; did you mean '${nearest}'?`} (${OUTPUT_TYPES.join(", ")})`,
    );
  }
  const code = ["class", "doc_to_text", "doc_to_target", "doc_to_choice", "description", "gen_prefix"].find(
    (key) => functionName(keys[key]) !== undefined,
  );
  if (code !== undefined) throw needsPython(file, code, keys[code]);
  if (functionName(keys["process_docs"]) !== undefined && !isProcessed)
    throw invalidTask(
      file,
      `changes its documents by Python code (process_docs: ${functionName(keys["process_docs"])}), which is not run; give documents that went through it with --documents FILE --processed`,
    );
  for (const key of ["doc_to_image", "doc_to_audio"])
    if (keys[key] !== undefined && keys[key] !== null)
      throw invalidTask(
        file,
        `asks about ${key === "doc_to_image" ? "images" : "sound"} (${key}), which rows of text cannot hold`,
      );
  if (keys["use_prompt"] !== undefined && keys["use_prompt"] !== null)
    throw invalidTask(file, "takes its prompt from promptsource (use_prompt), which is not supported");
  if (keys["doc_to_text"] === undefined && type !== "loglikelihood_rolling")
    throw invalidTask(file, "has no doc_to_text");
}

export function needsPython(file: string, key: string, value: unknown): DatasetError {
  return invalidTask(
    file,
    `makes its prompts by Python code (${key}: ${functionName(value)}), which is not run; write ${key} as a template`,
  );
}

/** Keys whose Python code changes scores but no prompt, for the report. */
export function ignoredCode(keys: TaskKeys): string[] {
  const found: string[] = [];
  const visit = (value: unknown, where: string) => {
    const name = functionName(value);
    if (name !== undefined) found.push(`${where}: ${name}`);
    else if (Array.isArray(value)) for (const item of value) visit(item, where);
    else if (isObject(value)) for (const [key, item] of Object.entries(value)) visit(item, `${where}.${key}`);
  };
  for (const key of ["process_results", "metric_list", "filter_list"]) visit(keys[key], key);
  return [...new Set(found)];
}
