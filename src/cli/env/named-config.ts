import { existsSync } from "node:fs";
import path from "node:path";
import { searchRoots } from "../../config/paths.ts";
import type { CommandContext, SelectorKind } from "../command.ts";
import { componentNames } from "../component-names.ts";
import { hint } from "../hint.ts";
import { selectConfig } from "../selectors.ts";
import { UsageError } from "../usage-error.ts";

const KINDS = ["resources-server", "environment", "benchmark"] as const satisfies readonly SelectorKind[];

/** The config file that NAME means: a file itself, or that of a resources server, environment or benchmark. */
export async function namedConfig(
  { io, env, installRoot, err }: CommandContext,
  name: string,
): Promise<string> {
  if (name.endsWith(".yaml")) {
    const configFile = path.resolve(io.cwd, name);
    if (!existsSync(configFile)) throw new UsageError(`argument NAME: ${name} does not exist`);
    return configFile;
  }
  const places = { roots: searchRoots({ cwd: io.cwd, env, installRoot }), warn: err };
  for (const kind of KINDS) {
    try {
      return await selectConfig(kind, kind, name, places);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
    }
  }
  const names = await Promise.all(KINDS.map((kind) => componentNames(kind, places.roots)));
  throw new UsageError(
    `argument NAME: there is no resources server, environment or benchmark '${name}'.${hint(name, names.flat())} ` +
      "See `gym list resources-servers` and `gym list environments`.",
  );
}
