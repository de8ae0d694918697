import { existsSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { RegistryError, WorkloadError } from "../../../config/errors.ts";
import { EXTRA_ROOTS_VARIABLE, type RootOptions, searchRoots } from "../../../config/paths.ts";
import { writeFileAtomically } from "../../../records/files/door.ts";
import type { Manifest } from "../catalog/manifest.ts";
import { catalogTree, checkLocation, loadManifest, parseManifest } from "../catalog/manifest.ts";
import { type CheckedDataset, checkManifestDataset } from "./check-dataset.ts";
import {
  type Component,
  type Composition,
  differenceText,
  type ManifestDifference,
  manifestDifferences,
  resolveComposition,
  updateManifestText,
} from "./composition.ts";
import { checkRolloutDriver, inferProfile, profileWarnings } from "./inspect-code.ts";

export interface ValidateOptions extends Required<RootOptions> {
  readonly manifestFile: string;
  /** Default: `config.yaml` beside the manifest. */
  readonly configFile?: string;
  /** Update the fields that repeat the config. */
  readonly sync?: boolean;
  readonly signal?: AbortSignal;
}

/** The output of `gym env validate NAME --json`. */
export interface WorkloadReport {
  readonly name: string;
  readonly version: string;
  readonly kind: string;
  readonly declared_profile: string;
  readonly inferred_profile: string;
  readonly profile_evidence: string;
  readonly manifest_path: string;
  readonly config_path: string;
  readonly components: readonly Component[];
  readonly datasets: readonly CheckedDataset[];
  readonly rollout_driver: string | null;
  readonly grading_mode: string | null;
  readonly synchronized_fields: readonly string[];
  readonly warnings: readonly string[];
}

/** Checks a manifest, its config and its datasets. No code is loaded, no server started, nothing downloaded. */
export async function validateWorkload(options: ValidateOptions): Promise<WorkloadReport> {
  if (!existsSync(options.manifestFile))
    throw new RegistryError(`The manifest ${options.manifestFile} does not exist.`);
  const manifestFile = realpathSync(options.manifestFile);
  const configFile = path.resolve(options.configFile ?? path.join(path.dirname(manifestFile), "config.yaml"));
  const declared = loadManifest(manifestFile);
  checkLocation(manifestFile, declared);
  if (!existsSync(configFile))
    throw new WorkloadError(`There is no config next to the manifest: ${configFile}`);
  const places = workloadRoots(manifestFile, options);
  const roots = searchRoots(places);
  const composition = await resolveComposition(configFile, places);
  const differences = manifestDifferences(declared, composition);
  if (differences.length > 0 && options.sync !== true)
    throw staleManifest(manifestFile, declared, differences);
  const text = updateManifestText(readFileSync(manifestFile, "utf8"), differences);
  const manifest = differences.length === 0 ? declared : updatedManifest(text, manifestFile);
  checkPromptContract(manifest);
  if (manifest.rollout_driver) checkRolloutDriver(manifest.rollout_driver, roots);
  const inferred = inferProfile(composition, roots);
  const datasets = await checkDatasets(manifest, composition, roots, options.signal);
  if (differences.length > 0) await writeFileAtomically(manifestFile, [text]);
  return {
    name: manifest.name,
    version: manifest.version,
    kind: manifest.kind,
    declared_profile: manifest.integration_profile,
    inferred_profile: inferred.profile,
    profile_evidence: inferred.evidence,
    manifest_path: manifestFile,
    config_path: configFile,
    components: composition.components,
    datasets: datasets.map(({ checked }) => checked),
    rollout_driver: composition.manifestFields.rollout_driver ?? null,
    grading_mode: composition.manifestFields.grading_mode ?? null,
    synchronized_fields: differences.map(({ field }) => field),
    warnings: [
      ...profileWarnings(manifest.integration_profile, inferred),
      ...datasets.flatMap(({ warning }) => warning ?? []),
    ],
  };
}

/** The search roots of a workload. The project of its manifest comes first. */
export function workloadRoots(manifestFile: string, options: Required<RootOptions>): Required<RootOptions> {
  const { cwd, env, installRoot } = options;
  const tree = catalogTree(manifestFile);
  if (tree === undefined) return { cwd, env, installRoot };
  const before = env[EXTRA_ROOTS_VARIABLE] ?? "";
  const own = path.dirname(tree.directory);
  const roots = before === "" ? own : `${own}${path.delimiter}${before}`;
  return { cwd, installRoot, env: { ...env, [EXTRA_ROOTS_VARIABLE]: roots } };
}

function staleManifest(
  file: string,
  { name }: Manifest,
  differences: readonly ManifestDifference[],
): WorkloadError {
  return new WorkloadError(
    `${file} does not match the config, which takes precedence:\n` +
      `${differences.map(differenceText).join("\n")}\n` +
      `\`gym env validate ${name} --sync\` updates these fields.`,
  );
}

function updatedManifest(text: string, file: string): Manifest {
  try {
    return parseManifest(text, file);
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    throw new WorkloadError(`The config does not match the manifest. ${error.message}`, {
      cause: error,
    });
  }
}

/** All rows of a benchmark must use the standard prompt. */
function checkPromptContract({ kind, datasets, standard_prompt_config: standard }: Manifest): void {
  if (kind !== "benchmark") return;
  const others = datasets.filter(
    ({ type, prompt_config: own }) =>
      type === "benchmark" && own !== undefined && own !== null && own !== standard,
  );
  if (others.length === 0) return;
  const names = others.map(({ name }) => name).join(", ");
  throw new WorkloadError(`prompt_config differs from standard_prompt_config '${standard}' for: ${names}.`);
}

async function checkDatasets(
  manifest: Manifest,
  { entries }: Composition,
  roots: readonly string[],
  signal: AbortSignal | undefined,
) {
  const results: Awaited<ReturnType<typeof checkManifestDataset>>[] = [];
  for (const [index, dataset] of manifest.datasets.entries()) {
    const { source, huggingface_identifier: hub, gitlab_identifier: registry } = entries[index] ?? {};
    results.push(
      await checkManifestDataset(dataset, {
        workload: manifest.name,
        roots,
        standardPrompt: manifest.standard_prompt_config ?? null,
        downloadable: [source, hub, registry].some((place) => place !== undefined && place !== null),
        signal,
      }),
    );
  }
  return results;
}
