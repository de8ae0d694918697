import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { silentLogger } from "../../base/door.ts";
import { GymError } from "../../base/errors.ts";
import { DUMMY_MODEL } from "../../config/door.ts";
import { locateInstances } from "../../run/door.ts";
import {
  installNodeDependencies,
  loadDefinition,
  pythonEnvironment,
  readConfig,
} from "../../servers/hosting/light-door.ts";
import type { CommandContext } from "../command.ts";
import { listingKeys } from "../config-keys.ts";
import { runChild } from "../run-child.ts";
import { packagesKeys } from "./keys.ts";
import { findServerFolder, isPythonServer, type ServerFolder } from "./server-folder.ts";

const OUTDATED_LIMIT_MS = 120_000;
const MAX_OUTPUT = 16 * 1024 * 1024;
const RULE = "-".repeat(72);

type PackageFormat = "columns" | "freeze" | "json";

interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly latest_version?: string;
}

/** Runs `gym env packages`: lists the packages of a server's environment. */
export async function listPackages(context: CommandContext): Promise<number> {
  const keys = await listingKeys(context, packagesKeys);
  const server = findServerFolder(context, keys.entrypoint);
  if (isPythonServer(server)) return listPythonPackages(context, server, keys);
  const environment = nodeModulesOf(server);
  if (environment === undefined) {
    context.out(`  There is no node_modules for ${server.entrypoint} at: ${server.directory}`);
    context.out("  Install its packages first:");
    context.out(`  ${howToInstall(server)}`);
    return 1;
  }
  const packages = keys.outdated
    ? await outdatedPackages(context, environment)
    : installedPackages(environment);
  if (keys.format === undefined) printHeader(context, server, environment);
  printPackages(context, packages, keys.format ?? "columns");
  return 0;
}

function printHeader({ out }: CommandContext, server: ServerFolder, environment: string): void {
  out(`Package list for: ${server.entrypoint}`);
  out(`Environment: ${environment}`);
  out(RULE);
}

/** The packages in the virtual environment of a Python server, as listed by pip. */
async function listPythonPackages(
  context: CommandContext,
  server: ServerFolder,
  { format, outdated }: { format: PackageFormat | undefined; outdated: boolean },
): Promise<number> {
  const environment = path.join(server.directory, ".venv");
  const python = path.join(environment, "bin", "python");
  if (!existsSync(python)) {
    context.out(`  Virtual environment not found at: ${environment}`);
    context.out("  Run tests or set the server up first:");
    context.out(`  gym env test +entrypoint=${server.entrypoint}`);
    return 1;
  }
  if (format === undefined) printHeader(context, server, environment);
  const args = ["-m", "pip", "list", ...(format === undefined ? [] : [`--format=${format}`])];
  return runChild(context, [python, ...args, ...(outdated ? ["--outdated"] : [])], server.directory);
}

/** The `node_modules` of the server's imports: its own, or that of the surrounding project. */
function nodeModulesOf({ directory }: ServerFolder): string | undefined {
  if (existsSync(path.join(directory, "package.json"))) {
    const own = path.join(directory, "node_modules");
    return existsSync(own) ? own : undefined;
  }
  for (let folder = directory; path.dirname(folder) !== folder; folder = path.dirname(folder)) {
    const candidate = path.join(folder, "node_modules");
    if (existsSync(candidate)) return candidate;
    if (path.basename(folder) === "node_modules") return folder;
  }
  return undefined;
}

/** The surrounding project, if any, installs the packages of a server without a package.json; the gym those of others. */
function howToInstall({ directory, entrypoint, name }: ServerFolder): string {
  const project = path.resolve(directory, "../..");
  return existsSync(path.join(directory, "package.json")) || !existsSync(path.join(project, "package.json"))
    ? `gym env prefetch --config ${entrypoint}/configs/${name}.yaml`
    : `cd ${project} && npm install`;
}

function installedPackages(nodeModules: string): InstalledPackage[] {
  const folders = readdirSync(nodeModules)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@")
        ? readdirSync(path.join(nodeModules, name)).map((inner) => `${name}/${inner}`)
        : [name],
    );
  return folders
    .flatMap((name) => {
      const file = path.join(nodeModules, name, "package.json");
      if (!existsSync(file)) return [];
      const { version } = JSON.parse(readFileSync(file, "utf8")) as { version?: string };
      return version === undefined ? [] : [{ name, version }];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** npm lists newer versions; exit code 1 only means that there are some. */
async function outdatedPackages(
  { env, signal }: CommandContext,
  nodeModules: string,
): Promise<InstalledPackage[]> {
  const cwd = path.dirname(nodeModules);
  let text: string;
  try {
    ({ stdout: text } = await promisify(execFile)("npm", ["outdated", "--json"], {
      cwd,
      env: { ...env },
      signal,
      timeout: OUTDATED_LIMIT_MS,
      maxBuffer: MAX_OUTPUT,
    }));
  } catch (error) {
    const { code, stdout = "", stderr = "" } = error as { code?: unknown; stdout?: string; stderr?: string };
    if (code !== 1) throw new GymError("CLI_TOOL", `npm outdated failed: ${stderr.trim() || String(error)}`);
    text = stdout;
  }
  const report = JSON.parse(text.trim() || "{}") as Record<string, unknown>;
  if ("error" in report) {
    const { summary } = report["error"] as { summary?: string };
    throw new GymError("CLI_TOOL", `npm outdated failed: ${summary ?? text}`);
  }
  return Object.entries(report)
    .flatMap(([name, value]) => {
      const { current, latest } = [value].flat()[0] as { current?: string; latest?: string };
      return current === undefined ? [] : [{ name, version: current, latest_version: latest ?? "" }];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function printPackages(
  { out }: CommandContext,
  packages: readonly InstalledPackage[],
  format: PackageFormat,
): void {
  if (format === "json") {
    out(JSON.stringify(packages));
    return;
  }
  if (format === "freeze") {
    for (const { name, version } of packages) out(`${name}==${version}`);
    return;
  }
  const newer = packages.some((entry) => entry.latest_version !== undefined);
  const rows = [
    ["Package", "Version", ...(newer ? ["Latest"] : [])],
    ...packages.map(({ name, version, latest_version: latest }) => [
      name,
      version,
      ...(newer ? [latest ?? ""] : []),
    ]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(0, ...rows.map((row) => (row[column] ?? "").length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join(" ")
      .trimEnd();
  const [heading = [], ...body] = rows;
  out(line(heading));
  out(line(heading.map((_, i) => "-".repeat(widths[i] ?? 0))));
  for (const row of body) out(line(row));
}

/** Runs `gym env prefetch`: each distinct server folder once, one after the other. */
export async function prefetchServers(context: CommandContext): Promise<number> {
  const { roots, installRoot, signal, json } = context;
  const out = json ? () => {} : context.out;
  const folders: { server: string; directory: string; has_own_packages: boolean }[] = [];
  const config = await context.resolve();
  const servers = config.servers.filter(({ implementation }) => implementation !== DUMMY_MODEL);
  const prepared = new Set<string>();
  for (const instance of locateInstances({ servers }, roots)) {
    signal.throwIfAborted();
    const { directory, language, hasOwnDependencies } = instance.code;
    const label = `${instance.type}/${instance.implementation}`;
    if (prepared.has(directory)) {
      out(`Skipping duplicate: ${label}`);
      continue;
    }
    prepared.add(directory);
    out(`Pre-warming venv for: ${label}`);
    const needsPackages = language === "python" || hasOwnDependencies;
    if (language === "python") {
      const globalConfig = config.toObject();
      await pythonEnvironment(instance, { globalConfig, installRoot, log: out });
    } else if (hasOwnDependencies) await installNodeDependencies(instance.name, directory, signal);
    if (language === "node" && instance.type === "responses_api_agents")
      await prefetchAgent(instance, { installRoot, signal, log: out });
    folders.push({ server: label, directory, has_own_packages: needsPackages });
  }
  out("Prefetch complete.");
  if (json) context.out(JSON.stringify({ prepared: folders }));
  return 0;
}

/** Prepares what an agent needs besides the libraries of its folder, such as the program that it runs. */
async function prefetchAgent(
  instance: ReturnType<typeof locateInstances>[number],
  context: { installRoot: string; signal: AbortSignal; log(line: string): void },
): Promise<void> {
  const definition = await loadDefinition(instance.code.entry, context.installRoot);
  if (definition.type !== "responses_api_agents" || definition.options.prefetch === undefined) return;
  const { signal, log } = context;
  const config = readConfig(definition, { ...instance, log: silentLogger });
  await definition.options.prefetch({ config, signal, log });
}
