import { ConfigError } from "../../config/errors.ts";
import { publishWorkload } from "../../workloads/publish/publish-workload.ts";
import type { CommandContext } from "../command.ts";
import {
  catalogEntries,
  printWarnings,
  readWorkloadKeys,
  workloadNamed,
  workloadOptions,
} from "./workload.ts";

/** Runs `gym env publish`. */
export async function publish(context: CommandContext): Promise<number> {
  const keys = await readWorkloadKeys(context, ["onboarding_name", "catalog_kind"]);
  if (keys.onboarding_name === undefined)
    throw new ConfigError("Name the environment or benchmark to publish: gym env publish NAME");
  const entry = await workloadNamed(context, keys.onboarding_name, keys.catalog_kind);
  const options = {
    ...workloadOptions(context),
    signal: context.signal,
    onWarning: (text: string) => printWarnings(context, [text]),
  };
  const report = await publishWorkload(entry, options, () => catalogEntries(context));
  if (context.json) context.out(JSON.stringify(report));
  else {
    context.out(
      `${context.terminal.green("✓")} Publication checks passed for ${report.kind} ${report.name} ${report.version}; ` +
        `catalog status=${report.status} (${report.verifier_cases} verifier cases).`,
    );
  }
  return 0;
}
