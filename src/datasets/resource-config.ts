import { readFile } from "node:fs/promises";
import { parseYamlText } from "../config/yaml/read.ts";
import { errorMessage } from "../errors.ts";
import { isObject } from "../python/json/json-object.ts";
import { DatasetError } from "./errors.ts";

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
