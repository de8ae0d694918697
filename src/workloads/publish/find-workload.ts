import { existsSync } from "node:fs";
import path from "node:path";
import { RegistryError } from "../../config/errors.ts";
import { getCloseMatches } from "../../python/difflib.ts";
import type { ManifestKind } from "../catalog/manifest.ts";
import type { Workload } from "../catalog/workloads.ts";

/** The entry of the catalog with this name; its kind has to be said only where an environment and a benchmark share it. */
export function findWorkload(
  entries: readonly Workload[],
  name: string,
  kind: ManifestKind | undefined,
): Workload {
  const called = calledSo(entries, name);
  const matches = called.filter((entry) => kind === undefined || entry.kind === kind);
  const [match] = matches;
  if (match === undefined) {
    const other =
      called[0] === undefined
        ? ""
        : ` It is ${called[0].kind === "environment" ? "an" : "a"} ${called[0].kind}.`;
    const known = entries.filter((entry) => kind === undefined || entry.kind === kind);
    const [nearest] = getCloseMatches(
      name,
      known.map((entry) => entry.name),
      1,
      0.6,
    );
    const hint = other !== "" || nearest === undefined ? other : ` Did you mean \`${nearest}\`?`;
    throw new RegistryError(`Unknown catalog entry '${name}'${kind ? ` of kind '${kind}'` : ""}.${hint}`);
  }
  if (matches.length > 1) {
    const kinds = matches.map((entry) => entry.kind).sort();
    throw new RegistryError(`'${name}' is ambiguous (${kinds.join(", ")}); say which with --kind.`);
  }
  return match;
}

/** What lives in a resources server may be called by that server's name alone. */
function calledSo(entries: readonly Workload[], name: string): Workload[] {
  const exact = entries.filter((entry) => entry.name === name);
  return exact.length > 0 ? exact : entries.filter((entry) => entry.resourcesServer === name);
}

/** The manifest of a workload, also one that the catalog could not use: what is wrong with it has to be told. */
export function manifestOf({ manifestFile, configFile }: Workload): string | undefined {
  if (manifestFile !== undefined) return manifestFile;
  const beside = path.join(path.dirname(configFile), "manifest.yaml");
  return path.basename(configFile) === "config.yaml" && existsSync(beside) ? beside : undefined;
}
