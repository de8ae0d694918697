import { ConfigError, OverrideError } from "../config/errors.ts";
import type { ResolvedConfig } from "../config/resolve.ts";

/** What `gym env validate --json` prints. */
export type ValidationReport =
  | { valid: true; servers: { name: string; type: string; implementation: string }[] }
  | { valid: false; error: { class: string; code: string; message: string } };

/** Resolves and tells how it went; a bad override stays an error, as on every other command. */
export async function validationReport(resolve: () => Promise<ResolvedConfig>): Promise<ValidationReport> {
  try {
    const { servers } = await resolve();
    return {
      valid: true,
      servers: servers.map(({ name, type, implementation }) => ({ name, type, implementation })),
    };
  } catch (error) {
    if (!(error instanceof ConfigError) || error instanceof OverrideError) throw error;
    return { valid: false, error: { class: error.name, code: error.code, message: error.message } };
  }
}
