import path from "node:path";
import { ConfigError, place, RegistryError, WorkloadError } from "../../config/errors.ts";
import { rawNodeAt } from "../../config/key-path.ts";
import { type DictNode, positionOf } from "../../config/node.ts";
import { readConfigFile, readConfigText } from "../../config/read-config-file.ts";
import { type Manifest, type ManifestKind, readManifest } from "../catalog/manifest.ts";

const TREES: Readonly<Record<string, ManifestKind>> = {
  environments: "environment",
  benchmarks: "benchmark",
};

/** The manifest in a file; all problems are reported together, with their positions. */
export function loadManifest(file: string): Manifest {
  let root: DictNode;
  try {
    root = readConfigFile(file);
  } catch (error) {
    if (error instanceof ConfigError)
      throw new RegistryError(error.message, { position: error.position, cause: error });
    throw error;
  }
  return checkedManifest(root, file);
}

/** The same for a text that is about to be written to the file. */
export function parseManifest(text: string, file: string): Manifest {
  return checkedManifest(readConfigText(text, { kind: "file", name: file }), file);
}

function checkedManifest(root: DictNode, file: string): Manifest {
  const result = readManifest(root);
  if ("manifest" in result) return result.manifest;
  const problems = result.problems.map(({ path: at, message }) => {
    const node = rawNodeAt(root, at);
    return `  - ${at.join(".")}: ${message}${place(node === undefined ? undefined : positionOf(node))}`;
  });
  throw new RegistryError(`The manifest ${file} is not valid:\n${problems.join("\n")}`);
}

/** The folder `environments` or `benchmarks` a file lies in. */
export function catalogTree(file: string): { directory: string; kind: ManifestKind } | undefined {
  for (let folder = path.dirname(file); path.dirname(folder) !== folder; folder = path.dirname(folder)) {
    const kind = TREES[path.basename(folder)];
    if (kind !== undefined) return { directory: folder, kind };
  }
  return undefined;
}

/** Name and kind of a manifest must be those of the folder it lies in. */
export function checkLocation(file: string, { name, kind }: Manifest): void {
  const tree = catalogTree(file);
  const folder = path.dirname(file);
  const expected =
    tree === undefined
      ? path.basename(folder)
      : path.relative(tree.directory, folder).split(path.sep).join("/");
  if (name !== expected) {
    throw new WorkloadError(`${file}: it is called '${name}', but its folder '${expected}'.`);
  }
  if (tree !== undefined && kind !== tree.kind) {
    throw new WorkloadError(
      `${file}: it says it is a ${kind}, but it lies in ${path.basename(tree.directory)}/.`,
    );
  }
}
