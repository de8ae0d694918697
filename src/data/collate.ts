import { existsSync } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { dumps } from "../base/python/json/door.ts";
import { findPath } from "../config/paths.ts";
import type { DatasetAgent, DatasetEntry, DatasetType } from "./entry.ts";
import { DatasetError } from "./errors.ts";
import { chooseSource, type DownloadAccess, downloadDataset, locateDataset } from "./locate.ts";
import { assertNotOverwritingSources, besidePath, writeOutput } from "./output-file.ts";
import { prepareDataset } from "./prepare-dataset.ts";
import { loadPromptConfig, type PromptConfig } from "./prompt-config.ts";
import type { TransferProgress } from "./remote/download-file.ts";
import { type DatasetScan, scanDataset, summarizeScan } from "./scan-dataset.ts";
import {
  type ExtendedStatistics,
  type ExtendedSummary,
  extendedContent,
} from "./statistics/extended-statistics.ts";
import {
  type MetricsOutcome,
  metricsContent,
  metricsPath,
  settleMetrics,
} from "./statistics/metrics-file.ts";
import { DatasetStatistics, type StatisticsSummary } from "./statistics/statistics.ts";

export const COLLATE_MODES = ["train_preparation", "example_validation"] as const;
export type CollateMode = (typeof COLLATE_MODES)[number];

const TYPES_OF_MODE: Readonly<Record<CollateMode, readonly DatasetType[]>> = {
  train_preparation: ["train", "validation", "benchmark"],
  example_validation: ["example"],
};

export interface CollateOptions {
  mode: CollateMode;
  /** Relative to `cwd`. */
  outputDirectory: string;
  /** In the order of the config. */
  agents: readonly DatasetAgent[];
  cwd: string;
  /** Search roots of input files, in order. Output goes below `cwd`. */
  roots: readonly string[];
  /** Access to the sources of missing datasets. Without it a missing dataset is an error. */
  download?: DownloadAccess;
  overwriteMetricsConflicts?: boolean;
  /** Fail if a row is invalid, before anything is written. */
  strict?: boolean;
  /** Creates the object that computes the additional statistics. Without it there are none. */
  extended?: () => ExtendedStatistics;
  /** Write metrics dataset by dataset and find unreadable rows only while collating, as the original does. */
  failLate?: boolean;
  signal?: AbortSignal;
  onEvent?: (event: CollateEvent) => void;
}

/** A dataset of an agent during collation. */
export interface CollateDataset {
  agent: string;
  entry: DatasetEntry;
  /** The file that is read. */
  file: string;
  found: boolean;
}

export type CollateStage = "load" | "validate" | "collate";

export type CollateEvent =
  | { event: "stage-start"; stage: CollateStage }
  | { event: "scope"; mode: CollateMode; types: readonly DatasetType[]; datasets: CollateDataset[] }
  | { event: "download-start" | "download-end"; dataset: CollateDataset }
  | ({ event: "download-progress"; dataset: CollateDataset } & TransferProgress)
  | { event: "rows-progress"; stage: CollateStage; dataset: CollateDataset; done: number; total: number }
  | { event: "rows-checked"; dataset: CollateDataset; scan: DatasetScan }
  /** The metrics of a dataset, or of all datasets of a type. */
  | ({ event: "metrics"; outcome: MetricsOutcome } & MetricsSubject)
  | { event: "type-collated"; type: DatasetType; file: string; rows: number };

interface MetricsSubject {
  dataset?: CollateDataset;
  type?: DatasetType;
  summary: StatisticsSummary;
  extended?: ExtendedSummary;
}

export interface CollateResult {
  datasets: { dataset: CollateDataset; scan: DatasetScan }[];
  /** Collated files and their metrics, in the order of creation. */
  files: { type: DatasetType; rows: number; file: string; metricsFile: string }[];
}

interface ValidatedDataset {
  dataset: CollateDataset;
  scan: DatasetScan;
  prompt: PromptConfig | undefined;
  /** Why the prompt config of the entry could not be loaded. */
  promptFailure?: unknown;
  summary: StatisticsSummary;
  extended: ExtendedStatistics | undefined;
}

/** Validates the datasets of a mode, computes their metrics and joins them by type. See docs/guide/datasets.md. */
export async function collate(options: CollateOptions): Promise<CollateResult> {
  const emit = options.onEvent ?? (() => {});
  const types = TYPES_OF_MODE[options.mode];
  const datasets = options.agents.flatMap(({ name, datasets: entries }) =>
    entries
      .filter((entry) => types.includes(entry.type))
      .map((entry) => ({ agent: name, entry, ...locateDataset(entry, options.roots, options.cwd) })),
  );
  emit({ event: "stage-start", stage: "load" });
  emit({ event: "scope", mode: options.mode, types, datasets });
  rejectSourcesAsOutputs(options, datasets);
  await fetchMissing(options, datasets);
  await rejectDirectories(datasets);

  emit({ event: "stage-start", stage: "validate" });
  const validated = await validateAll(options, datasets);

  emit({ event: "stage-start", stage: "collate" });
  const files = await collateTypes(options, types, validated);
  return { datasets: validated.map(({ dataset, scan }) => ({ dataset, scan })), files };
}

async function fetchMissing(options: CollateOptions, datasets: readonly CollateDataset[]): Promise<void> {
  const missing = datasets.filter(({ found }) => !found);
  if (missing.length === 0) return;
  const { download, onEvent: emit } = options;
  if (options.mode === "example_validation" || download === undefined) {
    const list = missing.map(({ agent, entry }) => {
      const line = `- ${entry.jsonlPath} (${entry.type} dataset '${entry.name}' of ${agent})`;
      return options.mode === "example_validation" || hasSource(entry)
        ? line
        : `${line}: ${sourceless(entry)}`;
    });
    const advice =
      options.mode === "example_validation"
        ? "Example datasets belong next to the server's code."
        : missing.some(({ entry }) => hasSource(entry))
          ? "Turn on --download (should_download) to fetch those that have a source."
          : "None of them can be downloaded.";
    throw new DatasetError("DATASET_MISSING", `Missing dataset files:\n${list.join("\n")}\n${advice}`);
  }
  // All sources are checked before the first download.
  for (const { entry } of missing) chooseSource(entry, download);
  for (const dataset of missing) {
    if (existsSync(dataset.file)) continue;
    emit?.({ event: "download-start", dataset });
    await downloadDataset(dataset.entry, dataset.file, download, (progress) =>
      emit?.({ event: "download-progress", dataset, ...progress }),
    );
    emit?.({ event: "download-end", dataset });
  }
}

function hasSource(entry: DatasetEntry): boolean {
  return entry.type !== "benchmark" && (entry.gitlab !== null || entry.huggingface !== null);
}

function sourceless({ type }: DatasetEntry): string {
  return type === "benchmark"
    ? "created by `gym eval prepare`"
    : "has no 'source' to download it from; put the file there, or add one";
}

async function rejectDirectories(datasets: readonly CollateDataset[]): Promise<void> {
  for (const { agent, entry, file } of datasets) {
    if (!(await stat(file)).isDirectory()) continue;
    throw new DatasetError(
      "DATASET_FILE",
      `'${entry.jsonlPath}' (jsonl_fpath of the ${entry.type} dataset '${entry.name}' of ${agent}) is a directory; name a file in it.`,
    );
  }
}

function rejectSourcesAsOutputs(options: CollateOptions, datasets: readonly CollateDataset[]): void {
  const sources = datasets.map(({ file, entry }) => ({
    file,
    description: `the source of dataset '${entry.name}'`,
  }));
  const outputs = datasets.flatMap(({ entry }) => [
    path.resolve(options.cwd, preparedPath(entry.jsonlPath)),
    path.resolve(options.cwd, options.outputDirectory, `${entry.type}.jsonl`),
  ]);
  assertNotOverwritingSources(sources, outputs, {
    cwd: options.cwd,
    advice: "Choose another output directory.",
  });
}

/** `data/train.jsonl` is prepared in `data/train_prepare.jsonl`. */
function preparedPath(jsonlPath: string): string {
  return besidePath(jsonlPath, "_prepare.jsonl");
}

async function validateAll(
  options: CollateOptions,
  datasets: readonly CollateDataset[],
): Promise<ValidatedDataset[]> {
  const prompts = new Map<string, PromptConfig>();
  const validated: ValidatedDataset[] = [];
  const outcomes: MetricsOutcome[] = [];
  for (const dataset of datasets) {
    const { prompt, promptFailure } = await promptOf(options, dataset.entry, prompts);
    const extended = options.extended?.();
    const scan = await scanDataset(dataset.file, dataset.entry, {
      prompt,
      onValidRow: (params) => extended?.observe(params),
      signal: options.signal,
      onProgress: await rowsProgress(options, "validate", dataset),
    });
    options.onEvent?.({ event: "rows-checked", dataset, scan });
    const summary = summarizeScan(scan, dataset.file);
    const member = { dataset, scan, prompt, promptFailure, summary, extended };
    validated.push(member);
    if (options.failLate) outcomes.push(await settleDataset(options, member));
  }
  if (!options.failLate) {
    // The metrics of a failed run would conflict with the corrected file.
    if (options.strict) rejectBadRows(validated);
    rejectUnusableRows(validated);
    for (const member of validated) outcomes.push(await settleDataset(options, member));
  }
  rejectConflicts(options, outcomes);
  return validated;
}

function settleDataset(
  options: CollateOptions,
  { dataset, summary, extended }: ValidatedDataset,
): Promise<MetricsOutcome> {
  const file = metricsPath(path.resolve(options.cwd, dataset.entry.jsonlPath));
  return settle(options, file, dataset.entry, { dataset, summary, extended: extended?.summary() });
}

async function promptOf(
  options: CollateOptions,
  { promptConfig }: DatasetEntry,
  known: Map<string, PromptConfig>,
): Promise<Pick<ValidatedDataset, "prompt" | "promptFailure">> {
  if (promptConfig === null) return { prompt: undefined };
  const { failLate } = options;
  try {
    const file = findPath(promptConfig, options.roots);
    const prompt = known.get(promptConfig) ?? (await loadPromptConfig(file, { failLate }));
    known.set(promptConfig, prompt);
    return { prompt };
  } catch (promptFailure) {
    if (failLate) return { prompt: undefined, promptFailure };
    throw promptFailure;
  }
}

async function rowsProgress(options: CollateOptions, stage: CollateStage, dataset: CollateDataset) {
  const { onEvent: emit } = options;
  if (emit === undefined) return undefined;
  const total = (await stat(dataset.file)).size;
  return (done: number) => emit({ event: "rows-progress", stage, dataset, done, total });
}

function rejectBadRows(validated: readonly ValidatedDataset[]): void {
  const bad = validated.filter(({ scan }) => scan.bad.count > 0);
  if (bad.length === 0) return;
  const list = bad.map(
    ({ dataset, scan }) =>
      `- ${dataset.file}: ${scan.bad.count} of ${scan.rows} rows, lines ${scan.bad.text()}`,
  );
  throw new DatasetError("DATASET_ROW_INVALID", `Invalid rows (strict mode):\n${list.join("\n")}`);
}

function rejectUnusableRows(validated: readonly ValidatedDataset[]): void {
  const unusable = validated.filter(({ scan }) => scan.unusable.count > 0);
  const [first] = unusable;
  if (first === undefined) return;
  const error = first.scan.firstUnusable;
  if (!(error instanceof DatasetError)) throw error;
  const count = unusable.reduce((sum, { scan }) => sum + scan.unusable.count, 0);
  const list = unusable.map(({ dataset, scan }) => `- ${dataset.file}: lines ${scan.unusable.text()}\n`);
  const all = count === 1 ? "" : `${count} lines cannot be collated:\n${list.join("")}`;
  const { code, message } = error;
  throw new DatasetError(code, `${message}\n${all}Nothing was written.`, { cause: error });
}

async function settle(
  options: CollateOptions,
  file: string,
  { shown }: DatasetEntry,
  subject: MetricsSubject,
): Promise<MetricsOutcome> {
  const outcome = await settleMetrics(file, metricsContent(shown, subject.summary), {
    overwrite: options.overwriteMetricsConflicts,
    // A source may be on a read-only file system; the output directory is not.
    keepAgreeing: subject.dataset !== undefined,
  });
  options.onEvent?.({ event: "metrics", outcome, ...subject });
  return outcome;
}

function rejectConflicts(options: CollateOptions, outcomes: readonly MetricsOutcome[]): void {
  const conflicts = outcomes.filter(({ status }) => status === "conflict");
  if (conflicts.length === 0) return;
  const relative = (file: string | undefined) => path.relative(options.cwd, file ?? "");
  const list = conflicts.map(
    ({ file, conflictFile, differences }) =>
      `- ${relative(file)} (new values: ${relative(conflictFile)})\n${differences.map((line) => `    ${line}`).join("\n")}`,
  );
  throw new DatasetError(
    "DATASET_METRICS_CONFLICT",
    `The metrics of these files do not agree with the data:\n${list.join("\n")}\n` +
      `If the new values are right, delete the old files and run again (or add +overwrite_metrics_conflicts=true):\n` +
      `rm ${conflicts.map(({ file }) => relative(file)).join(" ")}`,
  );
}

async function collateTypes(
  options: CollateOptions,
  types: readonly DatasetType[],
  validated: readonly ValidatedDataset[],
): Promise<CollateResult["files"]> {
  const files: CollateResult["files"] = [];
  const outcomes: MetricsOutcome[] = [];
  for (const type of types) {
    const members = validated.filter(({ dataset }) => dataset.entry.type === type);
    const [first] = members;
    if (first === undefined) continue;
    const total = new DatasetStatistics();
    for (const { scan } of members) total.merge(scan.statistics);
    const file = path.resolve(options.cwd, options.outputDirectory, `${type}.jsonl`);
    const extended = options.extended?.();
    for (const member of members) if (member.extended) extended?.merge(member.extended);
    const subject = { type, summary: total.summary(), extended: extended?.summary() };
    const outcome = await settle(options, metricsPath(file), first.dataset.entry, subject);
    outcomes.push(outcome);
    if (outcome.status === "conflict") continue;
    const rows = await joinDatasets(options, members, file);
    if (subject.extended) {
      const content = dumps(extendedContent(subject.extended), { indent: 4 });
      await writeFile(besidePath(file, "_statistics.json"), `${content}\n`);
    }
    files.push({ type, rows, file, metricsFile: outcome.file });
    options.onEvent?.({ event: "type-collated", type, file, rows });
  }
  rejectConflicts(options, outcomes);
  return files;
}

/** Writes the prepared file of each dataset, and all of them to `file`. */
function joinDatasets(
  options: CollateOptions,
  members: readonly ValidatedDataset[],
  file: string,
): Promise<number> {
  return writeOutput(file, { atomic: true }, async (joined) => {
    let rows = 0;
    let tasks = 0;
    for (const { dataset, scan, prompt, promptFailure } of members) {
      if (promptFailure !== undefined) throw promptFailure;
      const prepared = path.resolve(options.cwd, preparedPath(dataset.entry.jsonlPath));
      const rowsBefore = tasks;
      tasks += scan.rows;
      rows += await writeOutput(prepared, { atomic: false }, async (output) =>
        prepareDataset(dataset.file, dataset.entry, [output, joined], {
          agent: dataset.agent,
          prompt,
          rowsBefore,
          signal: options.signal,
          onProgress: await rowsProgress(options, "collate", dataset),
        }),
      );
    }
    return rows;
  });
}
