import { readFile } from "node:fs/promises";
import { isObject, type JsonObject } from "../python/json/json-object.ts";
import { artifactPaths } from "../rollouts/files/artifact-paths.ts";

/** Keys under which model servers name their model, the most telling first. */
const MODEL_KEYS = [
  "openai_model",
  "model",
  "model_name",
  "anthropic_model",
  "azure_deployment",
  "implementation",
];

/** The model that a run was made with, by the config in its manifest: that of `policy_model`, else of the first model server. */
export function modelOfConfig(config: JsonObject): string | null {
  const servers = isObject(config["servers"]) ? config["servers"] : {};
  let model: string | null = null;
  for (const [name, server] of Object.entries(servers)) {
    if (!isObject(server) || server["type"] !== "responses_api_models") continue;
    if (model === null || name === "policy_model") model = modelName(server);
  }
  return model;
}

function modelName(server: JsonObject): string | null {
  for (const key of MODEL_KEYS) {
    const value = server[key];
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}

/** The model of a rollouts file; null where no manifest says so. */
export async function modelOfRun(rollouts: string): Promise<string | null> {
  try {
    const manifest: unknown = JSON.parse(await readFile(artifactPaths(rollouts).manifest, "utf8"));
    return isObject(manifest) && isObject(manifest["config"]) ? modelOfConfig(manifest["config"]) : null;
  } catch {
    // Rollouts from elsewhere have none, and the comparison does not depend on it.
    return null;
  }
}
