import { errorMessage } from "../base/errors.ts";
import { checkHealth, type HealthOptions, type HealthReport } from "../records/results/light-door.ts";

/** Settings of the check after a run; false: no check. */
export type HealthSetting = false | Pick<HealthOptions, "ignoredChecks" | "workers">;

/** Checks a finished run; undefined when disabled, interrupted or failed, which does not fail the run. */
export async function checkAfterRun(
  rolloutsPath: string,
  setting: HealthSetting,
  { onNotice, signal }: { onNotice: (text: string) => void; signal?: AbortSignal | undefined },
): Promise<HealthReport | undefined> {
  if (setting === false || signal?.aborted) return undefined;
  try {
    return await checkHealth({ ...setting, rolloutsPath, onNotice, signal });
  } catch (error) {
    if (!signal?.aborted) onNotice(`Rollout health was not checked: ${errorMessage(error)}`);
    return undefined;
  }
}
