import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { errorMessage } from "../../../errors.ts";

/** Number of examples that a resources server ships. */
const EXAMPLES = 5;

/** The problems of the `data` folder of a resources server, each with a remedy. */
export function checkDataFiles(directory: string, entrypoint: string): string[] {
  const name = path.basename(entrypoint);
  const config = `${entrypoint}/configs/${configFile(directory, name)}`;
  const data = path.join(directory, "data");
  const problems: string[] = [];
  const exampleLines = lineCount(path.join(data, "example.jsonl"));
  if (exampleLines !== EXAMPLES) {
    problems.push(
      `${entrypoint}/data/example.jsonl ${found(exampleLines, "rows")}, but ${EXAMPLES} example rows are wanted.`,
    );
  }
  const metrics = path.join(data, "example_metrics.json");
  const counted = exampleCount(metrics);
  if (counted !== EXAMPLES) {
    problems.push(
      `${entrypoint}/data/example_metrics.json ${found(counted, "examples")}, but it must count ${EXAMPLES}. Write it with: ` +
        `gym dataset collate --config ${config} --mode example_validation --output-dir results/${name}`,
    );
  }
  for (const file of conflicts(data)) {
    problems.push(
      `${entrypoint}/data/${file} shows metrics that disagree: settle which are right, then delete it.`,
    );
  }
  const rollouts = lineCount(path.join(data, "example_rollouts.jsonl"));
  if (rollouts !== EXAMPLES) {
    problems.push(
      `${entrypoint}/data/example_rollouts.jsonl ${found(rollouts, "rollouts")}, but ${EXAMPLES} are wanted. Collect them with: ` +
        `gym eval run --config ${config} --model-type MODEL --output ${entrypoint}/data/example_rollouts.jsonl`,
    );
  }
  return problems;
}

/** The config named after the server, otherwise the first one. */
function configFile(directory: string, name: string): string {
  const configs = path.join(directory, "configs");
  const files = existsSync(configs) ? readdirSync(configs).filter((file) => file.endsWith(".yaml")) : [];
  const own = `${name}.yaml`;
  return files.includes(own) ? own : (files.sort()[0] ?? own);
}

function found(count: number | string, noun: string): string {
  if (typeof count === "string") return count;
  return `has ${count} ${noun}`;
}

/** The number of lines that are not empty, or the problem with the file. */
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
