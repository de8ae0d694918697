import { realpathSync } from "node:fs";
import { caseFold } from "../../../base/python/door.ts";
import { ConfigError, WorkloadError } from "../../../config/errors.ts";
import type { Manifest } from "../catalog/manifest.ts";
import { loadManifest } from "../catalog/manifest.ts";
import type { Workload } from "../catalog/workloads.ts";
import { manifestOf } from "../catalog/workloads.ts";
import { validateWorkload, type WorkloadReport } from "./validate-workload.ts";
import { type VerifierReport, type VerifyWorkloadOptions, verifyWorkload } from "./verify-workload.ts";

/** The output of `gym env publish NAME --json`. */
export interface PublicationReport {
  readonly name: string;
  readonly version: string;
  readonly kind: string;
  readonly status: string;
  readonly manifest_path: string;
  readonly verifier_cases: number;
}

export interface PublishOptions extends Omit<VerifyWorkloadOptions, "updateExpected"> {
  readonly signal: AbortSignal;
  readonly onWarning?: (text: string) => void;
}

/**
 * Checks that a workload can be published: it is valid, its verifier cases pass, its texts are complete, and the catalog
 * lists it. All problems are reported together.
 */
export async function publishWorkload(
  entry: Workload,
  options: PublishOptions,
  readAgain: () => Promise<readonly Workload[]>,
): Promise<PublicationReport> {
  const manifestFile = manifestOf(entry);
  if (manifestFile === undefined) {
    throw new WorkloadError(
      `'${entry.name}' has no manifest.yaml next to ${entry.configFile}, so it cannot be published.`,
    );
  }
  const manifest = loadManifest(manifestFile);
  const left = unfinishedTexts(manifest).map((field) => `Write ${field} in ${manifestFile}.`);
  const checks = await runChecks(entry, manifestFile, options, left);
  if (checks === undefined || left.length > 0) {
    const list = left.map((line) => `  - ${line.replaceAll("\n", "\n    ")}`).join("\n");
    throw new WorkloadError(`The ${entry.kind} '${entry.name}' is not ready to be published:\n${list}`);
  }
  const { name, version, kind, manifest_path } = checks.validation;
  const status = catalogStatus(await readAgain(), entry, manifest_path);
  return { name, version, kind, status, manifest_path, verifier_cases: checks.verifier.cases.length };
}

async function runChecks(
  { configFile }: Workload,
  manifestFile: string,
  { signal, onWarning, ...options }: PublishOptions,
  left: string[],
): Promise<{ validation: WorkloadReport; verifier: VerifierReport } | undefined> {
  try {
    const validation = await validateWorkload({ ...options, manifestFile, configFile, signal });
    for (const warning of validation.warnings) onWarning?.(warning);
    return { validation, verifier: await verifyWorkload(validation, options) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ConfigError)) throw error;
    left.push(error.message);
    return undefined;
  }
}

/** The fields whose text is still a placeholder. */
export function unfinishedTexts(manifest: Manifest): string[] {
  const unfinished = Object.entries(manifest).flatMap(([field, value]) =>
    textsIn(value).some(isUnfinished) ? [field] : [],
  );
  return manifest.licensing === "unknown" ? [...unfinished, "licensing"] : unfinished;
}

function isUnfinished(text: string): boolean {
  return caseFold(text.trim()).startsWith("todo") || /\bTODO\b/.test(text);
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The status of this manifest in the catalog. */
function catalogStatus(entries: readonly Workload[], { name, kind }: Workload, manifestFile: string): string {
  const shown = entries.find((entry) => entry.name === name && entry.kind === kind);
  if (shown?.manifestFile === undefined || realpathSync(shown.manifestFile) !== manifestFile)
    throw new WorkloadError(
      `The catalog does not show the ${kind} '${name}' with the manifest ${manifestFile}.`,
    );
  return shown.status;
}
