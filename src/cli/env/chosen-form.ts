import { ConfigError } from "../../config/errors.ts";
import type { CommandContext } from "../command.ts";

/** Top-level keys that flags and overrides set. */
export function givenKeys({ overrides }: CommandContext): string[] {
  return overrides.map((override) => {
    const path = typeof override === "string" ? override.replace(/^[+~]+/, "") : override.path;
    return /^[^.=[@]*/.exec(path)?.[0] ?? path;
  });
}

/** Whether `gym env validate` is about a workload, and not about a config. */
export function choosesManifest(context: CommandContext): boolean {
  const given = givenKeys(context);
  if (given.includes("onboarding_name") || given.includes("manifest_path")) return true;
  const needs = ["catalog_kind", "sync", "update_expected"].filter((key) => given.includes(key));
  // A config that is chosen may be reported as JSON too.
  if (context.json && !given.includes("config_paths")) needs.push("json");
  if (needs.length === 0) return false;
  throw new ConfigError(`These need the name of a workload or --manifest: ${needs.join(", ")}.`);
}
