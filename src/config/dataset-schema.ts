import type { ConfigNode, DictNode } from "./node.ts";
import { FieldCheck, type SchemaProblem } from "./schema-problems.ts";

export const datasetTypes = ["train", "validation", "example", "benchmark"] as const;

export const licenses = [
  "Apache 2.0",
  "MIT",
  "Creative Commons Attribution 4.0 International",
  "Creative Commons Attribution-ShareAlike 4.0 International",
  "CC BY-SA 4.0",
  "CC BY-NC 3.0",
  "NVIDIA Internal Use Only, Do Not Distribute",
  "NVIDIA Evaluation Dataset License Agreement",
  "TBD",
  "GNU General Public License v3.0",
] as const;

const OLDER_SOURCES = { gitlab_identifier: "gitlab", huggingface_identifier: "huggingface" } as const;

const SOURCE_FIELDS = {
  gitlab: { required: ["dataset_name", "version", "artifact_fpath"], optional: [] },
  huggingface: { required: ["repo_id"], optional: ["artifact_fpath", "split"] },
} as const;

type SourceType = keyof typeof SOURCE_FIELDS;
const sourceTypes = Object.keys(SOURCE_FIELDS) as SourceType[];

/** The problems of one element of a server's `datasets`. */
export function checkDataset(node: ConfigNode, path: (string | number)[]): SchemaProblem[] {
  if (node.kind !== "dict") return [{ path, message: "Must be a mapping" }];
  const check = new FieldCheck(node, path);
  const name = check.text("name", "required") ?? "the dataset";
  check.text("jsonl_fpath", "required");
  check.integer("num_repeats", 1);
  const type = check.oneOf("type", datasetTypes, "required");
  if (type === "benchmark") {
    check.text("prepare_script", "required");
    check.text("prompt_config");
    return check.problems;
  }
  check.oneOf("license", licenses);
  if (!check.has("license") && (type === "train" || type === "validation"))
    check.report("license", `A license is required for ${name}`);
  return [...check.problems, ...checkSources(check, node, name, path)];
}

function checkSources(
  check: FieldCheck,
  node: DictNode,
  name: string,
  path: (string | number)[],
): SchemaProblem[] {
  const older = Object.entries(OLDER_SOURCES).filter(([field]) => check.has(field));
  const problems = older.flatMap(([field, type]) =>
    checkSource(node.entries.get(field), type, [...path, field]),
  );
  if (!check.has("source")) return problems;
  if (older.length > 0) {
    const fields = older.map(([field]) => `'${field}'`).join(" and ");
    problems.push({ path, message: `Dataset '${name}' has 'source' together with ${fields}; keep 'source'` });
  }
  const source = node.entries.get("source");
  const sourcePath = [...path, "source"];
  if (source?.kind !== "dict") return [...problems, { path: sourcePath, message: "Must be a mapping" }];
  const sourceCheck = new FieldCheck(source, sourcePath);
  const type = sourceCheck.oneOf("type", sourceTypes, "required");
  problems.push(...sourceCheck.problems);
  return type === undefined ? problems : [...problems, ...checkSource(source, type, sourcePath)];
}

function checkSource(
  node: ConfigNode | undefined,
  type: SourceType,
  path: (string | number)[],
): SchemaProblem[] {
  if (node?.kind !== "dict") return [{ path, message: "Must be a mapping" }];
  const check = new FieldCheck(node, path);
  for (const field of SOURCE_FIELDS[type].required) check.text(field, "required");
  for (const field of SOURCE_FIELDS[type].optional) check.text(field);
  return check.problems;
}
