import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { textOf } from "../../config/node.ts";
import { candidatePaths, findExistingPath } from "../../config/paths.ts";
import { readConfigFile } from "../../config/read-config-file.ts";
import { serverBlocks } from "../../config/servers/server-schema.ts";
import { getCloseMatches } from "../../python/difflib.ts";
import { ScaffoldError } from "../errors.ts";
import { readTemplate } from "./templates.ts";

/** The resources server that scores a workload. */
export interface Verifier {
  readonly name: string;
  /** The path of its config, as in `config_paths`. */
  readonly configPath: string;
  /** The agent of that config that runs the server's rows. */
  readonly agent: { readonly instance: string; readonly implementation: string };
  readonly domain: string;
  /** Example rows that it can score, as JSON lines. */
  readonly exampleRows: string;
}

const EXAMPLE_ROWS = 5;

/** The verifier that a new resources server will be. */
export function newVerifier(name: string): Verifier {
  return {
    name,
    configPath: `resources_servers/${name}/configs/${name}.yaml`,
    agent: { instance: `${name}_simple_agent`, implementation: "simple_agent" },
    domain: "other",
    exampleRows: readTemplate("resources-server/data/example.jsonl"),
  };
}

/** An existing resources server, with the agent and the example rows of its config. */
export function existingVerifier(name: string, roots: readonly string[]): Verifier {
  const configPath = `resources_servers/${name}/configs/${name}.yaml`;
  const file = findExistingPath(configPath, roots);
  if (file === undefined) {
    const tried = candidatePaths(configPath, roots).map((place) => `  - ${place}`);
    const [nearest] = getCloseMatches(name, reusable(roots), 1, 0.6);
    const hint = nearest === undefined ? "" : ` Did you mean \`${nearest}\`?`;
    throw new ScaffoldError(
      `There is no verifier '${name}' to reuse.${hint} Looked at:\n${tried.join("\n")}`,
    );
  }
  const blocks = [...serverBlocks(readConfigFile(file))];
  const server = blocks.find(({ type }) => type === "resources_servers");
  const agent = blocks.find(
    ({ type, block }) => type === "responses_api_agents" && block.entries.has("datasets"),
  );
  if (server === undefined || agent === undefined) {
    throw new ScaffoldError(
      `${configPath} has no resources server with an agent and datasets, so it cannot be reused.`,
    );
  }
  const datasets = agent.block.entries.get("datasets");
  const entries = datasets?.kind === "list" ? datasets.items.filter((item) => item.kind === "dict") : [];
  const example = entries.find((entry) => textOf(entry.entries.get("type")) === "example");
  const rows = findExistingPath(textOf(example?.entries.get("jsonl_fpath")) ?? "", roots);
  if (example === undefined || rows === undefined)
    throw new ScaffoldError(`${configPath} names no example data that exists.`);
  return {
    name,
    configPath,
    agent: { instance: agent.name, implementation: agent.implementation },
    domain: textOf(server.block.entries.get("domain")) ?? "other",
    exampleRows: firstLines(readFileSync(rows, "utf8"), EXAMPLE_ROWS),
  };
}

function reusable(roots: readonly string[]): string[] {
  return roots
    .map((root) => path.join(root, "resources_servers"))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder));
}

function firstLines(text: string, count: number): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines
    .slice(0, count)
    .map((line) => `${line}\n`)
    .join("");
}
