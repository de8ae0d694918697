import { type ConfigFiles, readCatalog } from "../../workloads/catalog/config-files.ts";
import type { CommandContext } from "../command.ts";

/** Reads the catalog under the search roots of the command. `read` may run twice, so it must not print. */
export function openCatalog<T>(
  { io, env, installRoot }: CommandContext,
  read: (files: ConfigFiles) => T,
): Promise<T> {
  return readCatalog({ cwd: io.cwd, env, installRoot }, read);
}
