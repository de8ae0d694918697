import { existsSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { ancestors } from "./ancestors.ts";

interface PackageFile {
  version?: string;
  dependencies?: Record<string, string>;
}

/** The output of `gym --version --json`; the key names are those of the original. */
export function versionReport(installRoot: string) {
  const own = readPackage(path.join(installRoot, "package.json"));
  return {
    nemo_gym: own?.version ?? "unknown",
    node: process.versions.node,
    node_path: process.execPath,
    python: null,
    python_path: null,
    installation_path: installRoot,
    dependencies: installedVersions(Object.keys(own?.dependencies ?? {}), installRoot),
    system: {
      os: `${os.type()} ${os.release()}`,
      platform: `${os.platform()}-${os.release()}-${os.arch()}`,
      architecture: os.arch(),
      processor: os.cpus()[0]?.model.trim() || "unknown",
      cpus: os.cpus().length,
      memory_gb: Math.round((os.totalmem() / 1024 ** 3) * 100) / 100,
    },
  };
}

/** The text output. */
export function formatVersion(report: ReturnType<typeof versionReport>): string {
  const { system } = report;
  return [
    `NeMo Gym v${report.nemo_gym}`,
    `Node.js ${report.node} (${report.node_path})`,
    `Installation: ${report.installation_path}`,
    "",
    "Key Dependencies:",
    ...Object.entries(report.dependencies).map(([name, version]) => `  ${name}: ${version}`),
    "",
    "System:",
    `  OS: ${system.os}`,
    `  Platform: ${system.platform}`,
    `  Architecture: ${system.architecture}`,
    `  Processor: ${system.processor}`,
    `  CPUs: ${system.cpus}`,
    `  Memory: ${system.memory_gb} GB`,
  ].join("\n");
}

function installedVersions(names: readonly string[], installRoot: string): Record<string, string> {
  // Dependencies of an installed package are in a `node_modules` of a parent directory.
  const folders = ancestors(installRoot);
  const versions = names.map((name) => {
    const files = folders.map((folder) => path.join(folder, "node_modules", name, "package.json"));
    const file = files.find(existsSync);
    return [name, (file && readPackage(file)?.version) ?? "not installed"];
  });
  return Object.fromEntries(versions);
}

function readPackage(file: string): PackageFile | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as PackageFile;
  } catch {
    return undefined;
  }
}
