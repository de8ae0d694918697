import path from "node:path";
import { ConfigError, WorkloadError } from "../../config/errors.ts";
import { manifestOf } from "../../workloads/publish/find-workload.ts";
import { validateWorkload, type WorkloadReport } from "../../workloads/publish/validate-workload.ts";
import type { CommandContext } from "../command.ts";
import { printWarnings, readWorkloadKeys, workloadNamed, workloadOptions } from "./workload.ts";

/** Runs the manifest form of `gym env validate`. */
export async function validateManifest(context: CommandContext): Promise<number> {
  const keys = await readWorkloadKeys(context, ["onboarding_name", "catalog_kind", "manifest_path", "sync"]);
  const report = await validateWorkload({
    ...workloadOptions(context),
    ...(await chosenFiles(context, keys)),
    sync: keys.sync,
    signal: context.signal,
  });
  if (context.json) context.out(JSON.stringify(report));
  else show(context, report);
  return 0;
}

async function chosenFiles(
  context: CommandContext,
  keys: Awaited<ReturnType<typeof readWorkloadKeys>>,
): Promise<{ manifestFile: string; configFile?: string }> {
  const { onboarding_name: name, manifest_path: given, catalog_kind: kind } = keys;
  if (given !== undefined) {
    if (name !== undefined)
      throw new ConfigError("Choose a workload by its name or by --manifest, not by both.");
    if (kind !== undefined) throw new ConfigError("--kind goes with a name, not with --manifest.");
    return { manifestFile: path.resolve(context.io.cwd, given) };
  }
  const entry = await workloadNamed(context, name ?? "", kind);
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
    out(`    ${name}: ${rows === 0 ? "not there yet" : `${rows} rows`} (${type})`);
  if (report.synchronized_fields.length > 0)
    out(`${tick} Synchronized: ${report.synchronized_fields.join(", ")}`);
  printWarnings(context, report.warnings);
}
