import { readFileSync } from "node:fs";
import path from "node:path";
import { errorMessage } from "../../../base/errors.ts";
import type { JsonObject } from "../../../base/python/json/door.ts";
import { type ResolvedConfig, resolveLeniently, type ServerInstance } from "../../../config/door.ts";
import { currentComponentName } from "../../../config/light-door.ts";
import { findExistingPath, type RootOptions, searchRoots } from "../../../config/paths.ts";
import { loadDefinition, locateServer } from "../../../servers/hosting/light-door.ts";
import { AuditError } from "../errors.ts";
import type { AuditTarget } from "./audit.ts";
import type { ServerUnderAudit } from "./audited-server.ts";
import { type AuditSettings, readAuditSettings } from "./settings.ts";

export interface TargetOptions extends Required<RootOptions> {
  readonly configFile: string;
  /** Maximum number of rows per file. */
  readonly limit: number;
}

/** Every resources server of a config with each of its example datasets. Empty if no agent has example data. */
export async function findTargets(options: TargetOptions): Promise<AuditTarget[]> {
  const config = resolveLeniently(options.configFile, options);
  const roots = searchRoots(options);
  const targets: AuditTarget[] = [];
  for (const instance of config.servers.filter(({ type }) => type === "resources_servers")) {
    const entries = exampleEntries(config, instance.name);
    if (entries.length === 0) continue;
    const { server, settings } = await serverUnderAudit(instance, config, roots, options);
    const splits = localSplits(config, instance.name, roots);
    for (const entry of entries) {
      const { rows, file, lineCount } = readRows(String(entry["jsonl_fpath"]), roots, options.limit);
      const dataset = { file, entry, lineCount, splits };
      targets.push({ server, settings, rows, dataset, configFile: options.configFile });
    }
  }
  return targets;
}

/** The example datasets of the agents that use the server. */
export function exampleEntries(config: ResolvedConfig, server: string): JsonObject[] {
  return datasetEntries(config, server).filter((entry) => entry["type"] === "example");
}

function localSplits(config: ResolvedConfig, server: string, roots: readonly string[]) {
  return datasetEntries(config, server).flatMap(({ type, jsonl_fpath: place }) => {
    const file = typeof place === "string" ? findExistingPath(place, roots) : undefined;
    return file === undefined || type === "example" ? [] : [{ type: String(type), file }];
  });
}

function datasetEntries(config: ResolvedConfig, server: string): JsonObject[] {
  return config.servers.flatMap(({ type, config: block }) => {
    const { name } = (block["resources_server"] ?? {}) as { name?: unknown };
    if (type !== "responses_api_agents" || name !== server) return [];
    return (block["datasets"] ?? []) as JsonObject[];
  });
}

/** A server as the audit starts it: its definition, and its config with the overrides of `audit.yaml`. */
export async function serverUnderAudit(
  instance: ServerInstance,
  config: ResolvedConfig,
  roots: readonly string[],
  { configFile, installRoot }: Pick<TargetOptions, "configFile" | "installRoot">,
): Promise<{ server: ServerUnderAudit; settings: AuditSettings }> {
  const { name, type, entrypoint } = instance;
  const implementation = currentComponentName(instance.implementation);
  const code = locateServer({ name, type, implementation, entrypoint }, roots);
  if (code.language !== "node")
    throw new AuditError(
      `${implementation} is written in Python; only servers in TypeScript can be audited.`,
    );
  const settings = readAuditSettings(code.directory, path.basename(configFile, ".yaml"));
  const server = {
    name,
    implementation,
    directory: code.directory,
    definition: await loadDefinition(code.entry, installRoot),
    config: { ...instance.config, ...settings.config },
    globalConfig: config.toObject(),
    others: config.servers.map((other) => other.name).filter((other) => other !== name),
    roots,
    verdicts: settings.judge ?? configuredVerdicts(instance.config),
  };
  return { server, settings };
}

/** Some servers have the verdicts of their judge in the config. */
function configuredVerdicts(config: JsonObject): ServerUnderAudit["verdicts"] {
  const { judge_equal_label: accept, judge_not_equal_label: reject } = config;
  return typeof accept === "string" && typeof reject === "string" ? { accept, reject } : undefined;
}

function readRows(jsonlPath: string, roots: readonly string[], limit: number) {
  const file = findExistingPath(jsonlPath, roots);
  if (file === undefined) throw new AuditError(`The example data ${jsonlPath} does not exist.`);
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const rows = lines.slice(0, limit).map((line, index) => {
    try {
      return JSON.parse(line) as JsonObject;
    } catch (error) {
      throw new AuditError(`${file}:${index + 1} is not JSON: ${errorMessage(error)}`);
    }
  });
  if (rows.length === 0) throw new AuditError(`${file} has no rows.`);
  return { rows, file, lineCount: lines.length };
}
