import { globPattern } from "../../base/files/door.ts";
import { parseYamlText } from "../../config/yaml/door.ts";
import { DatasetError } from "../errors.ts";

/** The words in file and directory names that identify a split. */
const SPLIT_WORDS: Readonly<Record<string, readonly string[]>> = {
  train: ["train", "training"],
  validation: ["validation", "valid", "dev", "val"],
  test: ["test", "testing", "eval", "evaluation"],
};

/** The formats in order of preference, for splits that exist in several formats. */
const FORMATS = ["jsonl", "json", "parquet"] as const;
export type DataFormat = (typeof FORMATS)[number];

const SHARD = /^data\/(.+)-\d{5}-of-\d{5}.*\.\w+$/;
const NOT_DATA = new Set([
  "config.json",
  "dataset_info.json",
  "dataset_infos.json",
  "dataset_dict.json",
  "state.json",
]);

/** The format of a data file. Undefined if it cannot be read. */
export function dataFormat(file: string): DataFormat | undefined {
  const match = /\.(jsonl|ndjson|json|parquet)(\.gz)?$/.exec(file);
  if (match === null || (match[1] === "parquet" && match[2] !== undefined)) return undefined;
  return match[1] === "ndjson" ? "jsonl" : (match[1] as DataFormat);
}

/**
 * The data files of each split of a hub dataset, by the rules of the hub: from the dataset card, otherwise by the names of
 * shards, directories or files. Without any of these, all files are `train`.
 */
export function splitFiles(
  files: readonly string[],
  card: string | undefined,
  configName?: string,
): Map<string, string[]> {
  const data = files.filter(isData).sort();
  const declared = card === undefined ? undefined : declaredSplits(card, data, configName);
  if (declared !== undefined) return inOneFormat(declared);
  for (const group of [byShard(data), byWord(data, directoryOf), byWord(data, nameOf)]) {
    if (group.size > 0) return inOneFormat(group);
  }
  return inOneFormat(data.length === 0 ? new Map() : new Map([["train", data]]));
}

function isData(file: string): boolean {
  const parts = file.split("/");
  const hidden = parts.some((part) => part.startsWith(".") || part.startsWith("__"));
  return !hidden && dataFormat(file) !== undefined && !NOT_DATA.has(parts.at(-1) ?? "");
}

function byShard(files: readonly string[]): Map<string, string[]> {
  return group(files, (file) => SHARD.exec(file)?.[1]);
}

const directoryOf = (file: string) => file.split("/").slice(0, -1);
const nameOf = (file: string) => file.split("/").slice(-1);

/** Groups files by a split word in one of their names. Words are separated by digits and `-._ `. */
function byWord(files: readonly string[], namesOf: (file: string) => string[]): Map<string, string[]> {
  return group(files, (file) => {
    const words = namesOf(file).flatMap((name) => name.toLowerCase().split(/[-._ 0-9]+/));
    return Object.keys(SPLIT_WORDS).find((split) => SPLIT_WORDS[split]?.some((word) => words.includes(word)));
  });
}

function group(
  files: readonly string[],
  splitOf: (file: string) => string | undefined,
): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const file of files) {
    const split = splitOf(file);
    if (split !== undefined) groups.set(split, [...(groups.get(split) ?? []), file]);
  }
  return groups;
}

/** Keeps the most frequent format of each split, because the same rows often exist in several formats. */
function inOneFormat(groups: ReadonlyMap<string, string[]>): Map<string, string[]> {
  const result = new Map<string, string[]>();
  for (const [split, files] of groups) {
    const count = (format: DataFormat) => files.filter((file) => dataFormat(file) === format).length;
    const best = FORMATS.reduce((chosen, format) => (count(format) > count(chosen) ? format : chosen));
    const inBest = files.filter((file) => dataFormat(file) === best);
    result.set(split, inBest);
  }
  return result;
}

interface DeclaredConfig {
  config_name?: string;
  default?: boolean;
  data_files?: unknown;
}

/** The splits in the YAML header of the dataset card. Undefined if there are none. */
function declaredSplits(
  card: string,
  files: readonly string[],
  configName: string | undefined,
): Map<string, string[]> | undefined {
  const head = /^---\r?\n([\s\S]*?)\r?\n---/.exec(card)?.[1];
  if (head === undefined) return undefined;
  let configs: unknown;
  try {
    configs = (parseYamlText(head, "the dataset card") as { configs?: unknown } | null)?.configs;
  } catch {
    // The hub also uses the file names if the header is invalid.
    return undefined;
  }
  if (!Array.isArray(configs)) return undefined;
  const config = chooseConfig(configs as DeclaredConfig[], configName);
  if (config?.data_files === undefined) return undefined;
  const groups = new Map<string, string[]>();
  for (const [split, globs] of patternsOf(config.data_files)) {
    const patterns = globs.map((glob) => globPattern(glob.replace(/^\.?\//, ""), { braces: true }));
    const matching = files.filter((file) => patterns.some((pattern) => pattern.test(file)));
    groups.set(split, matching);
  }
  return groups;
}

function chooseConfig(
  configs: readonly DeclaredConfig[],
  wanted: string | undefined,
): DeclaredConfig | undefined {
  const names = configs.map((config) => config?.config_name ?? "default");
  if (wanted !== undefined) {
    const found = configs[names.indexOf(wanted)];
    if (found !== undefined) return found;
    throw new DatasetError(
      "DATASET_ARGUMENTS_INVALID",
      `The dataset has no config '${wanted}'; it has: ${names.join(", ")}.`,
    );
  }
  const preferred = configs.find((config) => config?.default === true) ?? configs[names.indexOf("default")];
  if (preferred !== undefined || configs.length <= 1) return preferred ?? configs[0];
  throw new DatasetError(
    "DATASET_ARGUMENTS_INVALID",
    `The dataset has several configs: ${names.join(", ")}. Choose one with +config_name=<name>.`,
  );
}

/** `"x"`, `["x"]`, `{train: "x"}` or `[{split: train, path: x}]`. */
function patternsOf(dataFiles: unknown): [split: string, globs: string[]][] {
  if (typeof dataFiles === "string") return [["train", [dataFiles]]];
  if (Array.isArray(dataFiles)) {
    if (dataFiles.every((file) => typeof file === "string")) return [["train", dataFiles]];
    return dataFiles.map((item: { split?: unknown; path?: unknown }) => [
      String(item.split),
      [item.path ?? []].flat().map(String),
    ]);
  }
  if (typeof dataFiles !== "object" || dataFiles === null) return [];
  return Object.entries(dataFiles).map(([split, globs]) => [split, [globs].flat().map(String)]);
}
