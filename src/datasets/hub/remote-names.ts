import { DatasetError } from "../errors.ts";

const MAX_NAME = 96;

/** Fails unless `id` is `owner/name` as the hub allows it; anything else would reach other addresses of the hub. */
export function checkRepositoryId(id: string): string {
  const parts = id.split("/");
  if (parts.length === 2 && id.length <= MAX_NAME && parts.every(isHubName)) return id;
  throw invalid(
    `'${id}' is not a repository: it must be <owner>/<name> of letters, digits, '-', '_' and '.', at most ${MAX_NAME} characters in all.`,
  );
}

/** Fails unless `artifact` is the path of a file inside a repository or version. */
export function checkArtifactPath(artifact: string): string {
  const parts = artifact.split("/");
  if (parts.every((part) => part !== "" && part !== "." && part !== ".." && !hasControl(part)))
    return artifact;
  throw invalid(
    `'${artifact}' (artifact_fpath, --artifact) is not the path of a file in a dataset: it must be like data/train.jsonl, without '..'.`,
  );
}

function isHubName(name: string): boolean {
  return /^\w(?:[\w.-]*\w)?$/.test(name) && !name.includes("--") && !name.includes("..");
}

function hasControl(text: string): boolean {
  return /[\x00-\x1f\x7f\\]/.test(text);
}

function invalid(message: string): DatasetError {
  return new DatasetError("DATASET_ARGUMENTS_INVALID", message);
}
