import { currentComponentName } from "../../config/aliases.ts";
import { searchRoots } from "../../config/paths.ts";
import type { ResolvedConfig } from "../../config/resolve.ts";
import { errorMessage } from "../../errors.ts";
import { locateServer } from "../../server/locate-server.ts";
import type { CommandContext } from "../command.ts";

/** Stands for the model where none is configured; it has no code. */
const NO_MODEL = "dummy_model";

/** What a valid config would still stumble over when it is started: servers whose code is not there. */
export function codeWarnings(
  config: ResolvedConfig,
  { io, env, installRoot }: Pick<CommandContext, "io" | "env" | "installRoot">,
): string[] {
  const roots = searchRoots({ cwd: io.cwd, env, installRoot });
  return config.servers.flatMap(({ name, type, implementation, entrypoint }) => {
    if (implementation === NO_MODEL) return [];
    try {
      locateServer({ name, type, implementation: currentComponentName(implementation), entrypoint }, roots);
      return [];
    } catch (error) {
      return [errorMessage(error)];
    }
  });
}
