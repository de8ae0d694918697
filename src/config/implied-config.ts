import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

const IMPLIED = /(?:^|[\\/])resources_servers[\\/]([A-Za-z_][\w-]*)[\\/]configs[\\/]([\w-]+)\.yaml$/;
const ENTRIES = ["app.ts", "app.js", "app.mjs"];

/**
 * The default config of a resources server whose folder has code but no `configs`: the server, an agent with `policy_model`,
 * and the example data. Undefined for every other file.
 */
export function impliedConfig(file: string): string | undefined {
  const [, name, flavor] = IMPLIED.exec(file) ?? [];
  if (name === undefined || name !== flavor) return undefined;
  const configs = path.dirname(file);
  if (existsSync(configs)) return undefined;
  const entry = impliedEntry(path.dirname(configs));
  return entry === undefined ? undefined : configText(name, entry);
}

/** The code of a server without YAML; undefined if the folder has `configs` or no code. */
export function impliedEntry(folder: string): string | undefined {
  if (existsSync(path.join(folder, "configs"))) return undefined;
  return ENTRIES.map((entry) => path.join(folder, entry)).find((entry) => existsSync(entry));
}

function configText(name: string, entry: string): string {
  // The agent depends on the kind of server. The code is searched and not run, because configs are read before servers start.
  const isGame = readFileSync(entry, "utf8").includes("defineGymnasiumServer");
  const agent = isGame ? "gymnasium_agent" : "simple_agent";
  const hasExamples = existsSync(path.join(path.dirname(entry), "data/example.jsonl"));
  return `${name}:
  resources_servers:
    ${name}:
      entrypoint: ${path.basename(entry)}
${name}_${agent}:
  responses_api_agents:
    ${agent}:
      entrypoint: app.ts
      resources_server:
        type: resources_servers
        name: ${name}
      model_server:
        type: responses_api_models
        name: policy_model
${hasExamples ? `      datasets:\n      - name: example\n        type: example\n        jsonl_fpath: resources_servers/${name}/data/example.jsonl\n` : ""}`;
}
