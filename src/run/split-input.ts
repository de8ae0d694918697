import { existsSync } from "node:fs";
import path from "node:path";
import { GymError } from "../base/errors.ts";
import type { ResolvedConfig } from "../config/door.ts";
import { findExistingPath, findPath } from "../config/paths.ts";
import { collate, existingScript, needsDownload, prepareBenchmarks } from "../data/door.ts";
import { hubAccess, registryAccess } from "../data/light-door.ts";
import { configuredAgents, datasetList, preprocessedDirectory } from "./evaluation-input.ts";

export interface SplitOptions {
  split: string;
  /** Uses the rows that an earlier run with this output has prepared. */
  reuse: boolean;
  output: string;
  cwd: string;
  roots: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal | undefined;
  /** Whether the rows of these benchmarks may be downloaded. */
  mayPrepare: (benchmarks: readonly string[]) => boolean | Promise<boolean>;
  onStatus: (text: string) => void;
  onNotice: (text: string) => void;
}

/** Collates the datasets of the config next to the output, and returns the file of one split. */
export async function splitFile(config: ResolvedConfig, options: SplitOptions): Promise<string> {
  const { split, reuse, output, onStatus } = options;
  const directory = preprocessedDirectory(output);
  const file = path.join(directory, `${split}.jsonl`);
  if (!(reuse && existsSync(file))) {
    onStatus("preparing the datasets");
    if (split === "benchmark") await prepareMissing(config, options);
    await collateDatasets(config, directory, options);
  }
  if (existsSync(file)) return file;
  throw new GymError(
    "EVAL_NO_SPLIT",
    `The config has no dataset of type '${split}'. Its agents' datasets: ${datasetList(config)}.`,
  );
}

/** Runs the scripts of benchmarks whose file does not exist. */
async function prepareMissing(config: ResolvedConfig, options: SplitOptions): Promise<void> {
  const { cwd, roots, env, signal = new AbortController().signal, onNotice } = options;
  const agents = configuredAgents(config).agents.map(({ name, datasets }) => ({
    name,
    datasets: datasets.filter(
      ({ type, jsonlPath }) => type === "benchmark" && findExistingPath(jsonlPath, roots) === undefined,
    ),
  }));
  if (agents.every(({ datasets }) => datasets.length === 0)) return;
  const downloads = agents.flatMap(({ datasets }) =>
    datasets.flatMap((entry) => {
      const script =
        entry.type === "benchmark" ? existingScript(findPath(entry.prepareScript, roots)) : undefined;
      return script !== undefined && needsDownload(script) ? [entry.name] : [];
    }),
  );
  if (downloads.length > 0 && !(await options.mayPrepare(downloads)))
    throw new GymError(
      "EVAL_NOT_PREPARED",
      `The rows of ${downloads.join(", ")} are not prepared. Add --prepare to download them first, or run \`gym eval prepare\` with the same selectors.`,
    );
  await prepareBenchmarks({
    agents,
    instances: [],
    args: (config.get("prepare_script_args") ?? {}) as Record<string, unknown>,
    useCached: true,
    concurrency: 1,
    cwd,
    roots,
    env,
    python: String(config.get("python_executable") ?? "python3"),
    hub: hubAccess({ get: (key: string) => config.get(key), env, signal, onNotice }),
    signal,
    onEvent: (event) => {
      if (event.type === "log") onNotice(event.line);
      if (event.type === "done") onNotice(`${event.benchmark}: prepared ${path.relative(cwd, event.file)}`);
      if (event.type === "done" && event.warning !== undefined) onNotice(`Warning: ${event.warning}`);
    },
  });
}

async function collateDatasets(
  config: ResolvedConfig,
  directory: string,
  { cwd, roots, env, signal, onNotice }: SplitOptions,
): Promise<void> {
  const { agents, rejected } = configuredAgents(config);
  for (const problem of rejected.flatMap(({ problems }) => problems)) onNotice(`Warning: ${problem}`);
  const access = { get: (key: string) => config.get(key), env, signal, onNotice };
  await collate({
    mode: "train_preparation",
    outputDirectory: directory,
    agents,
    cwd,
    roots,
    signal,
    download: { hub: hubAccess(access), registry: registryAccess(access), dataSource: "huggingface" },
  });
}
