export const DEFAULT_DATASET_PREFIX = "Nemotron-RL";

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
