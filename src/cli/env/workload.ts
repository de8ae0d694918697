import path from "node:path";
import { ConfigError, WorkloadError } from "../../config/errors.ts";
import { openCatalog } from "../catalog/listing.ts";
import type { CommandContext } from "../command.ts";
import { givenKeys, type KeyTable, type KeyValues, listingKeys } from "../config-keys.ts";
import { manifestKinds } from "../workloads/catalog/manifest.ts";
import {
  discoverWorkloads,
  findWorkload,
  manifestOf,
  type Workload,
} from "../workloads/catalog/workloads.ts";
import { publishWorkload } from "../workloads/publish/publish-workload.ts";
import { validateWorkload, type WorkloadReport } from "../workloads/publish/validate-workload.ts";
import { verifyWorkload } from "../workloads/publish/verify-workload.ts";

/** The keys that select a workload with a manifest, and its options. */
const workloadKeys = {
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
    help: "write the observed rewards into the verifier cases",
  },
} as const satisfies KeyTable;

const ALWAYS_ALLOWED = ["json", "verbose"];

/** The keys of a workload command, which has no run configuration. */
async function readWorkloadKeys(context: CommandContext, allowed: readonly (keyof typeof workloadKeys)[]) {
  const known: readonly string[] = [...allowed, ...ALWAYS_ALLOWED];
  const extra = [...new Set(givenKeys(context))].filter((key) => !known.includes(key)).sort();
  if (extra.length > 0) {
    throw new ConfigError(
      `Commands for a workload and its manifest do not accept a run config, but got: ${extra.join(", ")}.`,
    );
  }
  return listingKeys(context, workloadKeys);
}

/** The workloads of the catalog under the search roots. */
export function catalogEntries(context: CommandContext): readonly Workload[] {
  return discoverWorkloads(openCatalog(context)).entries;
}

/** The search paths of a workload, and how to run its verifier. */
export function workloadOptions(context: CommandContext) {
  const { io, env, installRoot, signal, verbose, err, terminal } = context;
  return {
    cwd: io.cwd,
    env: { ...env },
    installRoot,
    process: { signal, env, onProgress: verbose ? (what: string) => err(terminal.dim(what)) : undefined },
  };
}

function printWarnings({ err, terminal }: CommandContext, warnings: readonly string[]): void {
  for (const warning of warnings) err(`${terminal.yellow("Warning:")} ${warning}`);
}

/** Runs `gym env publish`. */
export async function publish(context: CommandContext): Promise<number> {
  const keys = await readWorkloadKeys(context, ["onboarding_name", "catalog_kind"]);
  if (keys.onboarding_name === undefined)
    throw new ConfigError("Name the environment or benchmark to publish: gym env publish NAME");
  const entry = findWorkload(catalogEntries(context), keys.onboarding_name, keys.catalog_kind);
  const options = {
    ...workloadOptions(context),
    signal: context.signal,
    onWarning: (text: string) => printWarnings(context, [text]),
  };
  const report = await publishWorkload(entry, options, async () => catalogEntries(context));
  if (context.json) context.out(JSON.stringify(report));
  else {
    context.out(
      `${context.terminal.green("✓")} Publication checks passed for ${report.kind} ${report.name} ${report.version}; ` +
        `catalog status=${report.status} (${report.verifier_cases} verifier cases).`,
    );
  }
  return 0;
}

/** Runs the manifest form of `gym env validate`. */
export async function validateManifest(context: CommandContext): Promise<number> {
  const keys = await readWorkloadKeys(context, ["onboarding_name", "catalog_kind", "manifest_path", "sync"]);
  const report = await validateWorkload({
    ...workloadOptions(context),
    ...chosenFiles(context, keys),
    sync: keys.sync,
    signal: context.signal,
  });
  if (context.json) context.out(JSON.stringify(report));
  else show(context, report);
  return 0;
}

function chosenFiles(
  context: CommandContext,
  keys: KeyValues<typeof workloadKeys>,
): { manifestFile: string; configFile?: string } {
  const { onboarding_name: name, manifest_path: given, catalog_kind: kind } = keys;
  if (given !== undefined) {
    if (name !== undefined)
      throw new ConfigError("Choose a workload by its name or by --manifest, not by both.");
    if (kind !== undefined)
      throw new ConfigError("--kind needs a name and cannot be combined with --manifest.");
    return { manifestFile: path.resolve(context.io.cwd, given) };
  }
  const entry = findWorkload(catalogEntries(context), name ?? "", kind);
  const manifestFile = manifestOf(entry);
  if (manifestFile !== undefined) return { manifestFile, configFile: entry.configFile };
  const flag =
    entry.resourcesServer === undefined
      ? `--${entry.kind} ${entry.name}`
      : `--resources-server ${entry.resourcesServer}`;
  throw new WorkloadError(
    `'${entry.name}' has no manifest; validate its config with --environment or --benchmark: gym env validate ${flag}`,
  );
}

function show(context: CommandContext, report: WorkloadReport): void {
  const { out, terminal } = context;
  const tick = terminal.green("✓");
  out(
    `${tick} Manifest: ${report.name} ${report.version} kind=${report.kind} ` +
      `profile=${report.declared_profile} inferred=${report.inferred_profile}`,
  );
  out(`    Profile evidence: ${report.profile_evidence}`);
  out(`${tick} Components:`);
  for (const { role, name, implementation, boundary } of report.components)
    out(`    ${role}: ${name} -> ${implementation} [${boundary}]`);
  out(`${tick} Datasets:`);
  for (const { name, rows, type } of report.datasets)
    out(`    ${name}: ${rows === 0 ? "does not exist yet" : `${rows} rows`} (${type})`);
  if (report.synchronized_fields.length > 0)
    out(`${tick} Synchronized: ${report.synchronized_fields.join(", ")}`);
  printWarnings(context, report.warnings);
}

/** Runs `gym env test NAME`: the verifier cases of an environment or benchmark. */
export async function testWorkload(context: CommandContext): Promise<number> {
  const keys = await readWorkloadKeys(context, ["onboarding_name", "catalog_kind", "update_expected"]);
  const entry = findWorkload(catalogEntries(context), keys.onboarding_name ?? "", keys.catalog_kind);
  const manifestFile = manifestOf(entry);
  if (manifestFile === undefined) {
    throw new WorkloadError(
      `The ${entry.kind} '${entry.name}' has no manifest.yaml; add one next to ${entry.configFile} to test its verifier.`,
    );
  }
  const options = workloadOptions(context);
  const { signal, out, terminal } = context;
  const { configFile } = entry;
  const validation = await validateWorkload({ ...options, manifestFile, configFile, signal });
  const report = await verifyWorkload(validation, { ...options, updateExpected: keys.update_expected });
  printWarnings(context, validation.warnings);
  if (context.json) out(JSON.stringify(report));
  else {
    const { name, resources_server: server, cases } = report;
    out(`${terminal.green("✓")} Verifier: ${name} (${server}) ${cases.length} cases passed.`);
  }
  return 0;
}
