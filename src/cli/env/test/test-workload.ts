import { WorkloadError } from "../../../config/errors.ts";
import { manifestOf } from "../../../workloads/publish/find-workload.ts";
import { validateWorkload } from "../../../workloads/publish/validate-workload.ts";
import { verifyWorkload } from "../../../workloads/publish/verify-workload.ts";
import type { CommandContext } from "../../command.ts";
import { printWarnings, readWorkloadKeys, workloadNamed, workloadOptions } from "../workload.ts";

/** Runs `gym env test NAME`: the verifier cases of an environment or benchmark. */
export async function testWorkload(context: CommandContext): Promise<number> {
  const keys = await readWorkloadKeys(context, ["onboarding_name", "catalog_kind", "update_expected"]);
  const entry = await workloadNamed(context, keys.onboarding_name ?? "", keys.catalog_kind);
  const manifestFile = manifestOf(entry);
  if (manifestFile === undefined) {
    throw new WorkloadError(
      `The ${entry.kind} '${entry.name}' has no manifest.yaml; add one beside ${entry.configFile} to have its verifier tested.`,
    );
  }
  const options = workloadOptions(context);
  const { signal, out, terminal } = context;
  const validation = await validateWorkload({
    ...options,
    manifestFile,
    configFile: entry.configFile,
    signal,
  });
  const report = await verifyWorkload(validation, { ...options, updateExpected: keys.update_expected });
  printWarnings(context, validation.warnings);
  if (context.json) out(JSON.stringify(report));
  else {
    const { name, resources_server: server, cases } = report;
    out(`${terminal.green("✓")} Verifier: ${name} (${server}) ${cases.length} cases passed.`);
  }
  return 0;
}
