import { readFile } from "node:fs/promises";
import { errorMessage } from "../../base/errors.ts";
import { isObject } from "../../base/python/json/door.ts";
import { parseYamlText } from "../../config/yaml/door.ts";
import { DatasetError } from "../errors.ts";

const MAX_NAME = 96;

/** Fails unless `id` is a valid `owner/name` of the hub. Anything else could address other resources of the hub. */
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

const DEFAULT_DATASET_PREFIX = "Nemotron-RL";

export interface RepositoryName {
  organization: string;
  datasetName: string;
  /** Empty for no prefix. */
  prefix?: string;
  /** The domain of the resources server. */
  domain?: string;
}

/**
 * The hub repository of a dataset.
 *
 * @example repositoryName({ organization: "acme", datasetName: "sums", domain: "math" }) // "acme/Nemotron-RL-math-sums"
 */
export function repositoryName({ organization, datasetName, prefix, domain }: RepositoryName): string {
  const parts = [prefix ?? DEFAULT_DATASET_PREFIX, domain?.toLowerCase() ?? "", datasetName];
  return `${organization}/${parts.filter((part) => part !== "").join("-")}`;
}

/** The id of a collection: its name in lower case with hyphens, then its slug. */
export function collectionId(organization: string, name: string, slug: string): string {
  return `${organization}/${name.toLowerCase().replaceAll(" ", "-")}-${slug}`;
}

/**
 * The resources server of a config file: the folder below `resources_servers`, or the second part of the path, as in the
 * original. Undefined if the path has no such folder.
 */
export function resourcesServerOfPath(configPath: string): string | undefined {
  const folders = configPath
    .split(/[\\/]/)
    .filter((part) => part !== "" && part !== ".")
    .slice(0, -1);
  const parent = folders.lastIndexOf("resources_servers");
  return folders[parent === -1 ? 1 : parent + 1];
}

/** The domain of the first resources server in a config file. Undefined if it has none. */
export async function domainOfConfig(file: string): Promise<string | undefined> {
  let config: unknown;
  try {
    config = parseYamlText(await readFile(file, "utf8"), file);
  } catch (error) {
    throw new DatasetError("DATASET_FILE", `The config '${file}' cannot be read: ${errorMessage(error)}`, {
      cause: error,
    });
  }
  for (const instance of isObject(config) ? Object.values(config) : []) {
    const servers = isObject(instance) ? instance["resources_servers"] : undefined;
    const [block] = isObject(servers) ? Object.values(servers) : [];
    if (isObject(block)) return typeof block["domain"] === "string" ? block["domain"] : undefined;
  }
  return undefined;
}
