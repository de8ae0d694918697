import { readFile } from "node:fs/promises";
import { isObject, type JsonObject } from "../python/json/json-object.ts";
import { artifactPaths } from "../rollouts/files/artifact-paths.ts";

/** Keys for the model name in model servers, most specific first. */
const MODEL_KEYS = [
  "openai_model",
  "model",
  "model_name",
  "anthropic_model",
  "azure_deployment",
  "implementation",
];

/** The model of a run from the config in its manifest: that of `policy_model`, else of the first model server. */
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

/** The model of a rollouts file; null if no manifest names one. */
export async function modelOfRun(rollouts: string): Promise<string | null> {
  try {
    const manifest: unknown = JSON.parse(await readFile(artifactPaths(rollouts).manifest, "utf8"));
    return isObject(manifest) && isObject(manifest["config"]) ? modelOfConfig(manifest["config"]) : null;
  } catch {
    // Rollouts of other programs have no manifest, and the comparison does not depend on the model.
    return null;
  }
}
