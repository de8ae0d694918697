import { readdir, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { listFiles } from "@huggingface/hub";
import { makeDirectory } from "../../base/files/door.ts";
import { dumps, type JsonObject, loads } from "../../base/python/json/door.ts";
import { readDataFileRows } from "../data-file-rows.ts";
import { DatasetError } from "../errors.ts";
import { rejectDirectory, writeOutput } from "../output-file.ts";
import type { TransferProgress } from "../remote/download-file.ts";
import { RemoteError } from "../remote/errors.ts";
import { aboutDataset, callHub, type HubAccess, hubJson, hubParams, hubText } from "../remote/hub-access.ts";
import { downloadHubFile, downloadHubUrl } from "./huggingface.ts";
import { checkRepositoryId } from "./remote-names.ts";
import { splitFiles } from "./split-files.ts";

export interface HubSplits {
  /** `organization/name`. */
  repository: string;
  revision?: string;
  /** The config, if the dataset has several. */
  configName?: string;
  /** Members of every row that lacks them. */
  fields?: Readonly<Record<string, unknown>>;
}

/** A data file of a split: a file of the repository, or the URL of a file that the hub converted to parquet. */
interface SplitFile {
  name: string;
  url?: string;
}

/** Writes one split of a hub dataset as JSON lines. */
export async function downloadHubSplit(
  access: HubAccess,
  { split, ...dataset }: HubSplits & { split: string },
  destination: string,
  onProgress?: (progress: TransferProgress) => void,
): Promise<number> {
  const splits = await aboutIt(access, dataset, () => findSplits(access, dataset, split));
  const files = splits.get(split);
  if (files === undefined || files.length === 0) {
    const known = [...splits.keys()].join(", ") || "none";
    throw new DatasetError(
      "DATASET_MISSING",
      `'${dataset.repository}' has no split '${split}' in a supported format (JSON lines, JSON, parquet); splits found: ${known}.`,
    );
  }
  return aboutIt(access, dataset, () => writeSplit(access, dataset, files, destination, onProgress));
}

/** Adds the dataset to errors of the hub. */
async function aboutIt<T>(
  access: HubAccess,
  { repository }: HubSplits,
  action: () => Promise<T>,
): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw aboutDataset(access, repository, error);
  }
}

/** Writes every split of a hub dataset to `<directory>/<split>.jsonl`. Returns the files and their row counts. */
export async function downloadHubSplits(
  access: HubAccess,
  dataset: HubSplits,
  directory: string,
  onProgress?: (progress: TransferProgress & { split: string }) => void,
): Promise<{ split: string; file: string; rows: number }[]> {
  const splits = await aboutIt(access, dataset, () => findSplits(access, dataset));
  if (splits.size === 0) {
    throw new DatasetError(
      "DATASET_MISSING",
      `'${dataset.repository}' contains no JSON, JSON lines or parquet files.`,
    );
  }
  const written: { split: string; file: string; rows: number }[] = [];
  for (const [split, files] of splits) {
    const file = path.join(directory, `${safeName(split)}.jsonl`);
    const report = (progress: TransferProgress) => onProgress?.({ ...progress, split });
    const rows = await aboutIt(access, dataset, () => writeSplit(access, dataset, files, file, report));
    written.push({ split, file, rows });
  }
  return written;
}

function safeName(split: string): string {
  return split.replace(/[^\w.-]/g, "_");
}

async function findSplits(
  access: HubAccess,
  dataset: HubSplits,
  wanted?: string,
): Promise<Map<string, SplitFile[]>> {
  checkRepositoryId(dataset.repository);
  const files = await listRepository(access, dataset);
  const card = files.includes("README.md") ? await readCard(access, dataset) : undefined;
  const named = splitFiles(files, card, dataset.configName);
  const found = new Map([...named].map(([split, names]) => [split, names.map((name) => ({ name }))]));
  const enough = wanted === undefined ? found.size > 0 : (found.get(wanted)?.length ?? 0) > 0;
  if (enough) return found;
  const converted = await convertedSplits(access, dataset);
  return converted.size > 0 ? converted : found;
}

async function listRepository(access: HubAccess, { repository, revision }: HubSplits): Promise<string[]> {
  return callHub(access, async () => {
    const files: string[] = [];
    const listing = listFiles({
      ...hubParams(access),
      repo: { type: "dataset", name: repository },
      revision: encodeURIComponent(revision ?? "main"),
      recursive: true,
    });
    for await (const entry of listing) if (entry.type === "file") files.push(entry.path);
    return files;
  });
}

function readCard(access: HubAccess, { repository, revision }: HubSplits): Promise<string> {
  return hubText(
    access,
    `/datasets/${repository}/resolve/${encodeURIComponent(revision ?? "main")}/README.md`,
  );
}

/** The parquet files that the hub converted, by split. */
async function convertedSplits(
  access: HubAccess,
  { repository, configName }: HubSplits,
): Promise<Map<string, SplitFile[]>> {
  let listing: Record<string, Record<string, string[]>>;
  try {
    listing = (await hubJson(access, `/api/datasets/${repository}/parquet`)) as typeof listing;
  } catch (error) {
    // The hub converts only public datasets of moderate size.
    if (error instanceof RemoteError && (error.status === 404 || error.status === 400)) return new Map();
    throw error;
  }
  const names = Object.keys(listing);
  const chosen = configName ?? (names.includes("default") ? "default" : names[0]);
  if (chosen === undefined) return new Map();
  if (configName === undefined && names.length > 1 && chosen !== "default") {
    throw new DatasetError(
      "DATASET_ARGUMENTS_INVALID",
      `The dataset has several configs: ${names.join(", ")}. Choose one with +config_name=<name>.`,
    );
  }
  return new Map(
    Object.entries(listing[chosen] ?? {}).map(([split, urls]) => [
      split,
      urls.map((url) => ({ name: path.posix.basename(new URL(url).pathname), url })),
    ]),
  );
}

async function writeSplit(
  access: HubAccess,
  { repository, revision, fields }: HubSplits,
  files: readonly SplitFile[],
  destination: string,
  onProgress?: (progress: TransferProgress) => void,
): Promise<number> {
  const target = path.resolve(destination);
  await rejectDirectory(target);
  // Downloaded parts stay after a failure, so that the next run continues from them.
  const parts = `${target}.parts`;
  await makeDirectory(parts);
  try {
    const rows = await writeOutput(target, { atomic: true }, async (output) => {
      let count = 0;
      for (const [index, { name, url }] of files.entries()) {
        const local = path.join(parts, `${index}-${path.posix.basename(name)}`);
        if (url === undefined)
          await downloadHubFile(access, { repository, path: name, revision }, local, onProgress);
        else await downloadHubUrl(access, url, { destination: local, onProgress });
        for await (const row of readDataFileRows(local, name, access.signal)) {
          await output.write(`${fields === undefined ? row : withFields(row, fields)}\n`);
          count++;
        }
      }
      return count;
    });
    await rm(parts, { recursive: true, force: true });
    return rows;
  } catch (error) {
    if ((await readdir(parts)).length === 0) await rmdir(parts);
    throw error;
  }
}

function withFields(row: string, fields: Readonly<Record<string, unknown>>): string {
  return dumps({ ...fields, ...(loads(row, { allowNonFinite: true }) as JsonObject) });
}
