import { ConfigError, NoServerInstancesError, OverrideError } from "../../config/errors.ts";
import type { ResolvedConfig } from "../../config/resolve.ts";
import type { CommandContext } from "../command.ts";
import { checkServers } from "./check-servers.ts";
import { givenKeys, validateManifest } from "./workload.ts";

/** Runs `gym env validate`. */
export async function validate(context: CommandContext, deep: boolean): Promise<number> {
  const { json, resolve, out, err, terminal } = context;
  if (choosesManifest(context)) return validateManifest(context);
  const check = async () => {
    const config = requireContent(await resolve());
    return { config, warnings: await checkServers(config, context, { deep }) };
  };
  if (json) {
    const report = await validationReport(check);
    out(JSON.stringify(report));
    return report.valid ? 0 : 1;
  }
  const { warnings } = await check();
  for (const warning of warnings) err(`Warning: ${warning}`);
  out(`${terminal.green("✓")} Config is valid.`);
  return 0;
}

/** Whether `gym env validate` checks a workload instead of a config. */
function choosesManifest(context: CommandContext): boolean {
  const given = givenKeys(context);
  if (given.includes("onboarding_name") || given.includes("manifest_path")) return true;
  const needs = ["catalog_kind", "sync", "update_expected"].filter((key) => given.includes(key));
  // A selected config may also be reported as JSON.
  if (context.json && !given.includes("config_paths")) needs.push("json");
  if (needs.length === 0) return false;
  throw new ConfigError(`These need the name of a workload or --manifest: ${needs.join(", ")}.`);
}

/** A config without servers cannot be valid. */
function requireContent(config: ResolvedConfig): ResolvedConfig {
  if (config.servers.some(({ implementation }) => implementation !== "dummy_model")) return config;
  throw new NoServerInstancesError(
    "The config has no servers, so there is nothing to validate. Name one with --config FILE, --resources-server NAME or another selector.",
  );
}

/** The output of `gym env validate --json`. */
type ValidationReport =
  | { valid: true; servers: { name: string; type: string; implementation: string }[]; warnings: string[] }
  | { valid: false; error: { class: string; code: string; message: string } };

/** Validates and returns a report; a bad override is still an error, like on every other command. */
async function validationReport(
  validate: () => Promise<{ config: ResolvedConfig; warnings: string[] }>,
): Promise<ValidationReport> {
  try {
    const { config, warnings } = await validate();
    return {
      valid: true,
      servers: config.servers.map(({ name, type, implementation }) => ({ name, type, implementation })),
      warnings,
    };
  } catch (error) {
    if (!(error instanceof ConfigError) || error instanceof OverrideError) throw error;
    return { valid: false, error: { class: error.name, code: error.code, message: error.message } };
  }
}
