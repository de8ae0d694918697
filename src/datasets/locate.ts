import path from "node:path";
import { findExistingPath } from "../config/paths.ts";
import type { TransferProgress } from "../remote/download-file.ts";
import type { HubAccess } from "../remote/hub-access.ts";
import type { DatasetEntry } from "./entry.ts";
import { DatasetError } from "./errors.ts";
import { downloadFromRegistry, type RegistryAccess } from "./hub/gitlab.ts";
import { downloadHubSplit } from "./hub/hub-split-download.ts";
import { downloadHubFile } from "./hub/huggingface.ts";

export type DataSource = "huggingface" | "gitlab";

export interface DownloadAccess {
  hub: HubAccess;
  /** Absent when no address or key is configured. */
  registry?: RegistryAccess;
  /** Which of two identifiers counts. */
  dataSource: DataSource;
}

/** Where a dataset lies: found under a root, else where it would be downloaded to. */
export interface LocatedDataset {
  found: boolean;
  file: string;
}

/** Looks a dataset up: an existing file of any root, else its place below the working directory. */
export function locateDataset(entry: DatasetEntry, roots: readonly string[], cwd: string): LocatedDataset {
  const existing = findExistingPath(entry.jsonlPath, roots);
  return existing === undefined
    ? { found: false, file: path.resolve(cwd, entry.jsonlPath) }
    : { found: true, file: existing };
}

/** Which store a missing dataset comes from; fails with the keys that the entry or env.yaml lacks. */
export function chooseSource(entry: DatasetEntry, access: DownloadAccess): DataSource {
  if (entry.type === "benchmark") {
    throw new DatasetError(
      "DATASET_NO_SOURCE",
      `The benchmark file '${entry.jsonlPath}' does not exist and cannot be downloaded; run 'gym eval prepare' to make it.`,
    );
  }
  const { gitlab, huggingface } = entry;
  if (gitlab === null && huggingface === null) {
    throw new DatasetError(
      "DATASET_NO_SOURCE",
      `The dataset '${entry.name}' (${entry.jsonlPath}) does not exist and has no 'source' to download it from.`,
    );
  }
  const source = gitlab && huggingface ? access.dataSource : gitlab ? "gitlab" : "huggingface";
  if (source === "huggingface" && access.hub.token === undefined && gitlab === null) {
    throw new DatasetError(
      "DATASET_CREDENTIALS_MISSING",
      `Downloading '${entry.name}' from Hugging Face needs a key. Add to env.yaml:\nhf_token: <your Hugging Face token>`,
    );
  }
  if (source === "gitlab" && access.registry === undefined) throw missingRegistryAccess();
  return source;
}

/** The error for a registry command without address or key. */
export function missingRegistryAccess(): DatasetError {
  return new DatasetError(
    "DATASET_CREDENTIALS_MISSING",
    "The GitLab registry needs an address and a key. Add to env.yaml:\n" +
      "mlflow_tracking_uri: https://<host>/api/v4/projects/<project id>/ml/mlflow\n" +
      "mlflow_tracking_token: <your GitLab token>",
  );
}

/** Fetches a missing dataset to its place. */
export async function downloadDataset(
  entry: DatasetEntry,
  destination: string,
  access: DownloadAccess,
  onProgress?: (progress: TransferProgress) => void,
): Promise<void> {
  const source = chooseSource(entry, access);
  if (entry.type === "benchmark") return;
  if (source === "gitlab" && entry.gitlab !== null && access.registry !== undefined) {
    const { dataset_name: datasetName, version, artifact_fpath: artifactPath } = entry.gitlab;
    await downloadFromRegistry(
      access.registry,
      { datasetName, version, artifactPath },
      destination,
      onProgress,
    );
  } else if (entry.huggingface !== null) {
    const { repo_id: repository, artifact_fpath: artifact } = entry.huggingface;
    if (artifact === null) {
      await downloadHubSplit(access.hub, { repository, split: entry.type }, destination, onProgress);
    } else await downloadHubFile(access.hub, { repository, path: artifact }, destination, onProgress);
  }
}
