import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { impliedEntry } from "../config/implied-config.ts";
import type { SelectorKind } from "./command.ts";

const DIRECTORIES = {
  benchmark: "benchmarks",
  environment: "environments",
  "resources-server": "resources_servers",
  "agent-type": "responses_api_agents",
  "model-type": "responses_api_models",
} as const satisfies Record<SelectorKind, string>;

const MAX_BENCHMARK_DEPTH = 6;

/** The folder, below each search root, that holds the components of a kind. */
export function componentDirectory(kind: SelectorKind): string {
  return DIRECTORIES[kind];
}

/** The names one may give to a selector, from all roots, sorted. */
export async function componentNames(kind: SelectorKind, roots: readonly string[]): Promise<string[]> {
  const names = new Set<string>();
  for (const root of roots) {
    const folder = path.join(root, DIRECTORIES[kind]);
    const found = kind === "benchmark" ? await benchmarkNames(folder) : await folderNames(kind, folder);
    for (const name of found) names.add(name);
  }
  return [...names].sort();
}

/** A benchmark is a YAML file that mentions a dataset of type benchmark. */
async function benchmarkNames(folder: string): Promise<string[]> {
  const names: string[] = [];
  for (const file of await yamlFiles(folder, "", 0)) {
    if (path.basename(file) === "manifest.yaml") continue;
    const text = await readFile(path.join(folder, file), "utf8").catch(() => "");
    if (/\btype["']?:\s*["']?benchmark\b/.test(text)) names.push(file.replace(/(\/config)?\.yaml$/, ""));
  }
  return names;
}

async function yamlFiles(folder: string, inside: string, depth: number): Promise<string[]> {
  if (depth > MAX_BENCHMARK_DEPTH) return [];
  const entries = await readdir(path.join(folder, inside), { withFileTypes: true }).catch(() => []);
  const files: string[] = [];
  for (const entry of entries) {
    const relative = inside === "" ? entry.name : `${inside}/${entry.name}`;
    if (entry.isDirectory() && entry.name !== "node_modules") {
      files.push(...(await yamlFiles(folder, relative, depth + 1)));
    } else if (entry.isFile() && entry.name.endsWith(".yaml")) files.push(relative);
  }
  return files;
}

async function folderNames(kind: SelectorKind, folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const marker = kind === "environment" ? "config.yaml" : "configs";
  const names: string[] = [];
  for (const entry of entries) {
    if (!entry.isDirectory()) continue;
    const inside: string[] = await readdir(path.join(folder, entry.name)).catch(() => []);
    const needsNone =
      kind === "resources-server" && impliedEntry(path.join(folder, entry.name)) !== undefined;
    if (inside.includes(marker) || needsNone) names.push(entry.name);
  }
  return names;
}
