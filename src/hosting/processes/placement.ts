import { GymError } from "../../errors.ts";
import type { HostedInstance } from "../cohost.ts";
import { HOSTING, withHostSettings } from "../host-settings.ts";

/** How an instance is hosted. */
export type Placement = "cohosted" | "process" | "workers" | "python";

/** Where an instance runs: in this process, unless its config, workers, packages or language require another. */
export function placementOf(
  instance: HostedInstance,
  globalConfig: Readonly<Record<string, unknown>>,
): Placement {
  withHostSettings(instance, instance.config);
  if (instance.definition !== undefined) return "cohosted";
  if (instance.code.language === "python") return "python";
  if (workerCount(instance) > 1) return "workers";
  const wanted = instance.config["hosting"] ?? globalConfig["hosting"];
  if (wanted !== undefined && wanted !== null) {
    if (!HOSTING.some((known) => known === wanted)) {
      throw new GymError(
        "SERVER_HOSTING",
        `Server '${instance.name}': hosting is ${JSON.stringify(wanted)}; it must be one of ${HOSTING.join(", ")}.`,
      );
    }
    return wanted as Placement;
  }
  return instance.code.hasOwnDependencies ? "process" : "cohosted";
}

export function workerCount(instance: HostedInstance): number {
  const count = Number(instance.config["num_workers"] ?? 1);
  return Number.isInteger(count) && count > 0 ? count : 1;
}
