import { readFile } from "node:fs/promises";
import { parseYamlText } from "../../config/yaml/read.ts";
import { errorMessage } from "../../errors.ts";
import { loadsPlain } from "../../python/json/json-loads.ts";
import { isObject } from "../../python/json/json-object.ts";
import { DatasetError } from "../errors.ts";
import { type Line, readLines } from "../lines.ts";
import { PositionRanges } from "../position-ranges.ts";

const DEFAULT_DATASET_PREFIX = "Nemotron-RL";

export interface RepositoryName {
  organization: string;
  datasetName: string;
  /** Empty for none. */
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

/** The id of a collection: its name in lower case with hyphens, then the slug the hub gave it. */
export function collectionId(organization: string, name: string, slug: string): string {
  return `${organization}/${name.toLowerCase().replaceAll(" ", "-")}-${slug}`;
}

/**
 * The resources server a config file belongs to: the folder below `resources_servers`, which is the second part of the path
 * as the original has it. Undefined where the path does not name a folder there.
 */
export function resourcesServerOfPath(configPath: string): string | undefined {
  const folders = configPath
    .split(/[\\/]/)
    .filter((part) => part !== "" && part !== ".")
    .slice(0, -1);
  const parent = folders.lastIndexOf("resources_servers");
  return folders[parent === -1 ? 1 : parent + 1];
}

/** Returns the domain of the first resources server in a config file; undefined when it has none. */
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

/** Fails unless every line of a training file is an object with `responses_create_params`. */
export async function checkTrainingRows(file: string, signal?: AbortSignal): Promise<void> {
  const bad = new PositionRanges();
  let line = 0;
  for await (const text of readLines(file, { signal })) {
    line++;
    if (!isTrainingRow(text)) bad.add(line, 1);
  }
  if (bad.count === 0) return;
  throw new DatasetError(
    "DATASET_ROW_INVALID",
    `${bad.count} of ${line} rows of '${file}' are not training rows: each must be a JSON object with ` +
      `'responses_create_params' (lines ${bad.text()}). Nothing was uploaded.`,
  );
}

function isTrainingRow(line: Line): boolean {
  if (line === null) return false;
  try {
    const row = loadsPlain(line, { allowNonFinite: true });
    return isObject(row) && Object.hasOwn(row, "responses_create_params");
  } catch {
    // The caller lists the line among the bad ones.
    return false;
  }
}
