import { ConfigFiles } from "../../workloads/catalog/config-files.ts";
import type { CommandContext } from "../command.ts";

/** Returns the config files under the search roots of the command. */
export function openCatalog({ io, env, installRoot }: CommandContext): ConfigFiles {
  return new ConfigFiles({ cwd: io.cwd, env, installRoot });
}
