import path from "node:path";
import { findExistingPath } from "../config/paths.ts";
import type { DatasetEntry } from "./entry.ts";
import { DatasetError } from "./errors.ts";
import { downloadFromRegistry, type RegistryAccess } from "./hub/gitlab.ts";
import { downloadHubSplit } from "./hub/hub-split-download.ts";
import { downloadHubFile } from "./hub/huggingface.ts";
import type { TransferProgress } from "./remote/download-file.ts";
import type { HubAccess } from "./remote/hub-access.ts";

export type DataSource = "huggingface" | "gitlab";

export interface DownloadAccess {
  hub: HubAccess;
  /** Absent if no address or key is configured. */
  registry?: RegistryAccess;
  /** The source of entries with both identifiers. */
  dataSource: DataSource;
}

/** Finds the file of a dataset under a root. A missing file belongs below the working directory. */
export function locateDataset(
  entry: DatasetEntry,
  roots: readonly string[],
  cwd: string,
): { found: boolean; file: string } {
  const existing = findExistingPath(entry.jsonlPath, roots);
  return existing === undefined
    ? { found: false, file: path.resolve(cwd, entry.jsonlPath) }
    : { found: true, file: existing };
}

/** The source of a missing dataset. Errors name the keys that are missing in the entry or in env.yaml. */
export function chooseSource(entry: DatasetEntry, access: DownloadAccess): DataSource {
  if (entry.type === "benchmark") {
    throw new DatasetError(
      "DATASET_NO_SOURCE",
      `The benchmark file '${entry.jsonlPath}' does not exist and cannot be downloaded; run 'gym eval prepare' with the same config or --benchmark to create it.`,
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

/** The error for a registry without an address or key. */
export function missingRegistryAccess(): DatasetError {
  return new DatasetError(
    "DATASET_CREDENTIALS_MISSING",
    "The GitLab registry needs an address and a key. Add to env.yaml:\n" +
      "mlflow_tracking_uri: https://<host>/api/v4/projects/<project id>/ml/mlflow\n" +
      "mlflow_tracking_token: <your GitLab token>",
  );
}

/** Downloads a missing dataset. */
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
    const artifact = { datasetName, version, artifactPath };
    await downloadFromRegistry(access.registry, artifact, destination, onProgress);
  } else if (entry.huggingface !== null) {
    const { repo_id: repository, artifact_fpath: artifact, split = entry.type, fields } = entry.huggingface;
    if (artifact === null) {
      await downloadHubSplit(access.hub, { repository, split, fields }, destination, onProgress);
    } else await downloadHubFile(access.hub, { repository, path: artifact }, destination, onProgress);
  }
}
