import { datasetTypes } from "../../config/dataset-schema.ts";
import type { ConfigNode } from "../../config/node.ts";
import { FieldCheck, type SchemaProblem } from "../../config/schema-problems.ts";

const FIELDS: ReadonlySet<string> = new Set([
  "name",
  "type",
  "jsonl_fpath",
  "prepare_script",
  "prompt_config",
  "num_repeats",
]);

/** What is wrong with the datasets a manifest lists. */
export function checkManifestDatasets(
  node: ConfigNode | undefined,
  kind: string | undefined,
): SchemaProblem[] {
  if (node?.kind !== "list" || node.items.length === 0)
    return [{ path: ["datasets"], message: "Must be a list of at least one dataset" }];
  const names: string[] = [];
  const types: (string | undefined)[] = [];
  const problems = node.items.flatMap((item, index) => {
    const path = ["datasets", index];
    if (item.kind !== "dict") return [{ path, message: "Must be a mapping" }];
    const check = new FieldCheck(item, path);
    for (const key of item.entries.keys())
      if (!FIELDS.has(String(key))) check.report(String(key), "Unknown field");
    const name = check.text("name", "required");
    if (name !== undefined) {
      if (names.includes(name)) check.report("name", `Another dataset is called '${name}'`);
      names.push(name);
    }
    check.text("jsonl_fpath", "required");
    check.text("prompt_config", "nullable");
    check.integer("num_repeats", 1);
    if (!check.has("type")) check.report("type", "Field required");
    const type = check.oneOf("type", datasetTypes);
    types.push(type);
    check.text("prepare_script", type === "benchmark" ? "required" : "nullable");
    return check.problems;
  });
  if (kind === "benchmark" && !types.includes("benchmark"))
    problems.push({ path: ["datasets"], message: "A benchmark needs a dataset of type benchmark" });
  return problems;
}
