import { ConfigError, OverrideError } from "../config/errors.ts";
import type { ResolvedConfig } from "../config/resolve.ts";

/** What `gym env validate --json` prints. */
export type ValidationReport =
  | { valid: true; servers: { name: string; type: string; implementation: string }[]; warnings: string[] }
  | { valid: false; error: { class: string; code: string; message: string } };

/** Validates and returns a report; a bad override stays an error, as on every other command. */
export async function validationReport(
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
