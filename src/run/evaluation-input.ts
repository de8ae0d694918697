import { type Stats, statSync } from "node:fs";
import path from "node:path";
import { errorMessage, GymError } from "../base/errors.ts";
import { dumpsCompact } from "../base/python/json/door.ts";
import type { ResolvedConfig, ServerInstance } from "../config/door.ts";
import { ConfigPathNotFoundError } from "../config/errors.ts";
import { candidatePaths, findPath, findServerDirectory } from "../config/paths.ts";
import { type AgentDatasets, agentsOf } from "../data/light-door.ts";
import { RolloutError } from "../records/errors.ts";
import { makeOutputDirectory, type Row, readRows, writeFileAtomically } from "../records/files/door.ts";
import { materializeTask } from "../wire/door.ts";
import { checkAgentName } from "./inputs/agent-check.ts";
import { agentsUsing } from "./inputs/route.ts";

export interface InputOptions {
  /** A file, the rows themselves, or the example data of the config's agents. */
  input?: string | readonly Row[];
  /** Uses the example data of this agent only. */
  agent?: string;
  output: string;
  roots: readonly string[];
}

/** The file with the rows of a run. */
export interface RunInput {
  path: string;
  /** The source of the file or of a line in it, if the run wrote the file. */
  sourceOf?: (line?: number) => string;
}

/** The file with the rows of a run. Rows from other sources are first written next to the output. */
export async function runInput(config: ResolvedConfig, options: InputOptions): Promise<RunInput> {
  const { input, output, roots } = options;
  if (typeof input === "string") return { path: existingInput(input, roots) };
  const directory = preprocessedDirectory(output);
  // If the output directory cannot be created, the error names the output and not a file next to it.
  await makeOutputDirectory(path.dirname(output));
  if (input === undefined) return joinExamples(config, directory, options);
  const file = path.join(directory, "input.jsonl");
  await writeFileAtomically(file, input.map(rowLine));
  return { path: file, sourceOf: (line) => (line === undefined ? "input" : `input[${line - 1}]`) };
}

function rowLine(row: Row, index: number): string {
  try {
    return `${dumpsCompact(row)}\n`;
  } catch (error) {
    throw new RolloutError("ROLLOUT_ROW_NOT_JSON", `input[${index}]: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/** The user does not know a file that the run wrote, so errors name its source: `input[0]`, or a dataset and its line. */
export function citingSource(error: unknown, { path: file, sourceOf }: RunInput): unknown {
  if (!(error instanceof GymError) || sourceOf === undefined) return error;
  const cited = (text: string) => {
    const [start = "", ...parts] = text.replaceAll(`'${file}'`, file).split(file);
    const rest = parts.map((part) => {
      const [mark, line] = /^:(\d+)/.exec(part) ?? [""];
      return sourceOf(line === undefined ? undefined : Number(line)) + part.slice(mark.length);
    });
    return start + rest.join("");
  };
  // Node prints the stack, which repeats the message.
  if (error.stack !== undefined) error.stack = cited(error.stack);
  error.message = cited(error.message);
  return error;
}

/** Directory of the generated inputs of a run: `res/run.jsonl` has `res/run/preprocessed_datasets`. */
export function preprocessedDirectory(output: string): string {
  const suffix = path.extname(output);
  // Without a suffix to remove, the directory would have the same name as the output.
  if (suffix === "") return `${output}_preprocessed_datasets`;
  return path.join(output.slice(0, output.length - suffix.length), "preprocessed_datasets");
}

/** The files of the config's datasets. */
export function datasetFiles(config: ResolvedConfig, roots: readonly string[]): string[] {
  return configuredAgents(config).agents.flatMap(({ datasets }) =>
    datasets.map(({ jsonlPath }) => findPath(jsonlPath, roots)),
  );
}

/** The agents of a config with their datasets, also those that resources servers declare. */
export function configuredAgents(config: ResolvedConfig): AgentDatasets {
  const agents = agentServers(config);
  const own = agents.map(({ name, config: block }) => ({ name, datasets: block["datasets"] }));
  const ofServers = config.servers.flatMap(({ type, name, config: { datasets } }) => {
    if (type !== "resources_servers" || datasets === undefined) return [];
    return [{ name, datasets, agents: agentsUsing(name, agents) }];
  });
  return agentsOf([...own, ...ofServers]);
}

function agentServers({ servers }: ResolvedConfig): ServerInstance[] {
  return servers.filter(({ type }) => type === "responses_api_agents");
}

/** The names of the agents of a config. */
export function agentNames(config: ResolvedConfig): string[] {
  return agentServers(config).map(({ name }) => name);
}

/** `my_agent: example (example), …`, for messages. */
export function datasetList(config: ResolvedConfig): string {
  const named = configuredAgents(config).agents.flatMap(({ name, datasets }) =>
    datasets.map((entry) => `${name}: ${entry.name} (${entry.type})`),
  );
  return named.join(", ") || "none";
}

export function existingInput(given: string, roots: readonly string[]): string {
  const found = findPath(given, roots);
  const status = statSync(found, { throwIfNoEntry: false });
  if (status?.isFile()) return found;
  if (status) throw new GymError("EVAL_NO_INPUT", notAFile(given, status));
  const tried = candidatePaths(given, roots)
    .map((place) => `  - ${place}`)
    .join("\n");
  throw new ConfigPathNotFoundError(`Input file not found: '${given}' (--input). Looked at:\n${tried}`);
}

/** A run reads its rows more than once, which a pipe does not allow. */
function notAFile(given: string, status: Stats): string {
  const kind = status.isDirectory() ? "a directory" : status.isFIFO() ? "a pipe" : "a device or socket";
  const save = status.isDirectory() ? "" : " Save its output to a file first (`… > rows.jsonl`).";
  return `'${given}' is ${kind}, not a file (--input): a run reads its rows more than once.${save}`;
}

/** Writes the example rows of every agent to one file, each with its agent. */
async function joinExamples(
  config: ResolvedConfig,
  directory: string,
  { agent: only, roots }: InputOptions,
): Promise<RunInput> {
  const { agents } = configuredAgents(config);
  if (only !== undefined)
    checkAgentName(
      only,
      agentNames(config),
      findServerDirectory("responses_api_agents", only, roots) !== undefined,
    );
  const chosen = agents
    .filter(({ name }) => only === undefined || name === only)
    .flatMap(({ name, datasets }) =>
      datasets
        .filter(({ type }) => type === "example")
        .map(({ jsonlPath, taskset }) => ({ name, taskset, file: findPath(jsonlPath, roots) })),
    );
  if (chosen.length === 0) throw noInput(config, only);
  const joined = path.join(directory, "example.jsonl");
  const sources: string[] = [];
  async function* lines(): AsyncGenerator<string> {
    for (const { name, taskset, file } of chosen) {
      for await (const { row, line } of readRows(file, { exact: true })) {
        const prepared =
          taskset === undefined
            ? { ...row, agent_ref: { type: "responses_api_agents", name } }
            : materializeTask({ ...row, _ng_task_index: sources.length }, taskset);
        sources.push(`${file}:${line.number}`);
        yield `${dumpsCompact(prepared)}\n`;
      }
    }
  }
  await writeFileAtomically(joined, lines());
  const files = [...new Set(chosen.map(({ file }) => file))].join(", ");
  return { path: joined, sourceOf: (line) => (line === undefined ? files : (sources[line - 1] ?? files)) };
}

/** Lists the datasets of the config, so that the user can correct the command. */
function noInput(config: ResolvedConfig, agent: string | undefined): GymError {
  const splits = new Set(
    configuredAgents(config).agents.flatMap(({ datasets }) => datasets.map(({ type }) => type)),
  );
  splits.delete("example");
  const [split] = splits;
  const next = split === undefined ? "give --input FILE" : `give --split ${split}, or --input FILE`;
  return new GymError(
    "EVAL_NO_INPUT",
    `There is nothing to run: ${next}; the config has no example data${agent ? ` for '${agent}'` : ""} (datasets: ${datasetList(config)}).`,
  );
}
