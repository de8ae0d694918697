import { ConfigError } from "../../config/errors.ts";
import type { Workload } from "../../workloads/catalog/entry.ts";
import { type ManifestKind, manifestKinds } from "../../workloads/catalog/manifest.ts";
import { discoverWorkloads } from "../../workloads/catalog/workloads.ts";
import { findWorkload } from "../../workloads/publish/find-workload.ts";
import { openCatalog } from "../catalog/listing.ts";
import type { CommandContext } from "../command.ts";
import type { KeyTable } from "../config-keys.ts";
import { listingKeys } from "../config-keys.ts";

/** The keys that choose a workload with a manifest, and how it is treated. */
export const workloadKeys = {
  onboarding_name: { type: "str", help: "the environment or benchmark, as `gym list environments` names it" },
  catalog_kind: {
    type: "str",
    choices: manifestKinds,
    help: "which of the two where an environment and a benchmark share the name",
  },
  manifest_path: { type: "str", help: "the manifest to validate, instead of a name" },
  sync: { type: "bool", default: false, help: "bring the fields that repeat the config up to date" },
  update_expected: {
    type: "bool",
    default: false,
    help: "write the rewards that were seen into the verifier cases",
  },
} as const satisfies KeyTable;

/** Top-level keys that flags and overrides set. */
export function givenKeys({ overrides }: CommandContext): string[] {
  return overrides.map((override) => {
    const path = typeof override === "string" ? override.replace(/^[+~]+/, "") : override.path;
    return /^[^.=[@]*/.exec(path)?.[0] ?? path;
  });
}

const ALWAYS_ALLOWED = ["json", "verbose"];

/** The keys of a command that is about a workload; nothing of a run can be configured there. */
export async function readWorkloadKeys(
  context: CommandContext,
  allowed: readonly (keyof typeof workloadKeys)[],
) {
  const known: readonly string[] = [...allowed, ...ALWAYS_ALLOWED];
  const extra = [...new Set(givenKeys(context))].filter((key) => !known.includes(key)).sort();
  if (extra.length > 0) {
    throw new ConfigError(
      `Commands on a workload and its manifest take no config of a run, but were given: ${extra.join(", ")}.`,
    );
  }
  return listingKeys(context, workloadKeys);
}

/** The workload of that name, from the catalog under the search roots. */
export async function workloadNamed(
  context: CommandContext,
  name: string,
  kind: ManifestKind | undefined,
): Promise<Workload> {
  return findWorkload(await catalogEntries(context), name, kind);
}

export async function catalogEntries(context: CommandContext): Promise<readonly Workload[]> {
  const { entries } = discoverWorkloads(openCatalog(context));
  return entries;
}

/** Where paths of a workload are looked up, and how its verifier is run. */
export function workloadOptions(context: CommandContext) {
  const { io, env, installRoot, signal, verbose, err, terminal } = context;
  return {
    cwd: io.cwd,
    env: { ...env },
    installRoot,
    process: { signal, env, ...(verbose && { onProgress: (what: string) => err(terminal.dim(what)) }) },
  };
}

export function printWarnings({ err, terminal }: CommandContext, warnings: readonly string[]): void {
  for (const warning of warnings) err(`${terminal.yellow("Warning:")} ${warning}`);
}
