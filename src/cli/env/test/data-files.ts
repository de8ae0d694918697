import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { errorMessage } from "../../../base/errors.ts";
import { configName } from "../server-folder.ts";

/** Number of examples that a resources server ships. */
const EXAMPLES = 5;

/** The problems of the `data` folder of a resources server, each with a remedy. */
export function checkDataFiles(directory: string, entrypoint: string): string[] {
  const name = path.basename(entrypoint);
  const config = `${entrypoint}/configs/${configName(directory, name) ?? `${name}.yaml`}`;
  const data = path.join(directory, "data");
  /** `count` returns the number of items in the file, or what is wrong with the file. */
  const check = (file: string, count: (path: string) => number | string, noun: string, wanted: string) => {
    const counted = count(path.join(data, file));
    if (counted === EXAMPLES) return [];
    const found = typeof counted === "string" ? counted : `has ${counted} ${noun}`;
    return [`${entrypoint}/data/${file} ${found}, but ${wanted}`];
  };
  return [
    ...check("example.jsonl", lineCount, "rows", `${EXAMPLES} example rows are wanted.`),
    ...check(
      "example_metrics.json",
      exampleCount,
      "examples",
      `it must count ${EXAMPLES}. Write it with: ` +
        `gym dataset collate --config ${config} --mode example_validation --output-dir results/${name}`,
    ),
    ...conflicts(data).map(
      (file) =>
        `${entrypoint}/data/${file} shows metrics that disagree: settle which are right, then delete it.`,
    ),
    ...check(
      "example_rollouts.jsonl",
      lineCount,
      "rollouts",
      `${EXAMPLES} are wanted. Collect them with: ` +
        `gym eval run --config ${config} --model-type MODEL --output ${entrypoint}/data/example_rollouts.jsonl`,
    ),
  ];
}

/** The number of lines that are not empty. */
function lineCount(file: string): number | string {
  if (!existsSync(file)) return "is missing";
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "").length;
}

function exampleCount(file: string): number | string {
  if (!existsSync(file)) return "is missing";
  try {
    const metrics = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    const count = metrics["Number of examples"];
    return typeof count === "number" ? count : "has no 'Number of examples'";
  } catch (error) {
    return `is not JSON (${errorMessage(error)})`;
  }
}

function conflicts(data: string): string[] {
  if (!existsSync(data)) return [];
  return readdirSync(data)
    .filter((file) => file.includes("conflict"))
    .sort();
}
