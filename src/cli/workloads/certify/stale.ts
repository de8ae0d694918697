import path from "node:path";
import { resolveLeniently } from "../../../config/door.ts";
import { currentComponentName } from "../../../config/light-door.ts";
import { findExistingPath, searchRoots } from "../../../config/paths.ts";
import { locateServer } from "../../../servers/hosting/light-door.ts";
import { exampleEntries, type TargetOptions } from "../audit/targets.ts";
import { type Digests, digestsOf } from "./certificate.ts";

/** The digests of the servers of a config as they are now. Loads no code. */
export function currentDigests(
  options: TargetOptions,
): { directory: string; config: string; digests: Digests }[] {
  const config = resolveLeniently(options.configFile, options);
  const roots = searchRoots(options);
  return config.servers
    .filter(({ type }) => type === "resources_servers")
    .flatMap(({ name, type, entrypoint, implementation }) => {
      const [entry] = exampleEntries(config, name);
      if (entry === undefined) return [];
      const rows = findExistingPath(String(entry["jsonl_fpath"]), roots);
      const server = { name, type, entrypoint, implementation: currentComponentName(implementation) };
      const { directory, language } = locateServer(server, roots);
      if (rows === undefined || language !== "node") return [];
      const stem = path.basename(options.configFile, ".yaml");
      return [{ directory, config: stem, digests: digestsOf(directory, options.configFile, rows) }];
    });
}
