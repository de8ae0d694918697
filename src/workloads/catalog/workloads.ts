import { existsSync } from "node:fs";
import path from "node:path";
import { RegistryError } from "../../config/errors.ts";
import { impliedConfig } from "../../config/implied-config.ts";
import { type DictNode, textOf } from "../../config/node.ts";
import { serverBlocks } from "../../config/servers/server-schema.ts";
import { caseFold } from "../../python/case.ts";
import { byCodePoint } from "../../python/code-points.ts";
import { getCloseMatches } from "../../python/difflib.ts";
import { type ConfigFiles, mentions } from "./config-files.ts";
import { subfolders, yamlFiles, yamlFilesBelow } from "./folders.ts";
import { type Manifest, type ManifestKind, readManifest } from "./manifest.ts";

/** Something that can be run: an environment or a benchmark, wherever its config lies. */
export interface Workload {
  readonly name: string;
  readonly kind: ManifestKind;
  /** `experimental` when it has a manifest. */
  readonly status: "experimental" | "no-manifest";
  readonly configFile: string;
  readonly manifestFile?: string;
  readonly domain?: string;
  readonly description?: string;
  readonly version?: string;
  readonly integrationProfile?: string;
  readonly modality?: string;
  readonly licensing?: string;
  readonly lifecycle?: string;
  /** The value of `--resources-server` for workloads that live in a resources server. */
  readonly resourcesServer?: string;
}

const TREES = { environment: "environments", benchmark: "benchmarks" } as const satisfies Record<
  ManifestKind,
  string
>;
const MANIFEST = "manifest.yaml";

export interface WorkloadCatalog {
  /** Sorted by name, then kind. */
  readonly entries: readonly Workload[];
  /** What could not be used as it is written. */
  readonly warnings: readonly string[];
}

/** Every environment and benchmark under the roots; an earlier root hides a same-named entry of a later one. */
export function discoverWorkloads(files: ConfigFiles): WorkloadCatalog {
  const search = new WorkloadSearch(files);
  for (const root of files.roots) {
    search.tree(path.join(root, TREES.environment), "environment");
    search.tree(path.join(root, TREES.benchmark), "benchmark");
    search.resourcesServers(path.join(root, "resources_servers"));
  }
  return { entries: search.sorted(), warnings: search.warnings };
}

class WorkloadSearch {
  readonly warnings: string[] = [];
  readonly #files: ConfigFiles;
  readonly #entries = new Map<string, Workload>();

  constructor(files: ConfigFiles) {
    this.#files = files;
  }

  sorted(): Workload[] {
    return [...this.#entries.values()]
      .map((entry) => ({ entry, folded: caseFold(entry.name) }))
      .sort(
        (a, b) =>
          byCodePoint(a.folded, b.folded) ||
          byCodePoint(a.entry.name, b.entry.name) ||
          byCodePoint(a.entry.kind, b.entry.kind),
      )
      .map(({ entry }) => entry);
  }

  /** One tree of a root: entries with a manifest first, then those that are only configs. */
  tree(folder: string, kind: ManifestKind): void {
    const hidden = new Set(this.#entries.keys());
    const yaml = kind === "benchmark" ? yamlFilesBelow(folder) : environmentFiles(folder);
    const described = new Set<string>();
    for (const relative of yaml.filter((file) => path.posix.basename(file) === MANIFEST)) {
      const name = path.posix.dirname(relative);
      if (hidden.has(keyOf(kind, name))) continue;
      const entry = this.#fromManifest(folder, name, kind);
      if (entry === undefined) continue;
      this.#entries.set(keyOf(kind, name), entry);
      described.add(entry.configFile);
    }
    for (const relative of yaml.filter((file) => path.posix.basename(file) !== MANIFEST)) {
      const configFile = path.join(folder, relative);
      const name = relative.replace(/(\/config)?\.yaml$/, "");
      if (this.#entries.has(keyOf(kind, name)) || described.has(configFile)) continue;
      if (kind === "benchmark" ? !this.#hasBenchmark(configFile) : !/^[^/]+\/config\.yaml$/.test(relative))
        continue;
      this.#addWithoutManifest({ name, kind, configFile });
    }
  }

  #addWithoutManifest(found: Pick<Workload, "name" | "kind" | "configFile" | "resourcesServer">): void {
    const { domain, description } = this.#files.metadata(found.configFile);
    this.#entries.set(keyOf(found.kind, found.name), {
      ...found,
      status: "no-manifest",
      domain,
      description,
    });
  }

  /** Configs of resources servers that bring an agent with data, and so can be run by themselves. */
  resourcesServers(folder: string): void {
    for (const component of subfolders(folder)) {
      const configs = path.join(folder, component, "configs");
      const usual = `${component}.yaml`;
      const isImplied = impliedConfig(path.join(configs, usual)) !== undefined;
      for (const file of isImplied ? [usual] : yamlFiles(configs)) {
        const flavor = file.slice(0, -".yaml".length);
        const configFile = path.join(configs, file);
        const root = this.#files.tryRead(configFile);
        const kind = root && workloadKind(root);
        if (kind === undefined) continue;
        const selector = flavor === component ? component : `${component}/${flavor}`;
        const name = `resources_servers/${selector}`;
        if (this.#entries.has(keyOf(kind, flavor)) || this.#entries.has(keyOf(kind, name))) continue;
        this.#addWithoutManifest({ name, kind, configFile, resourcesServer: selector });
      }
    }
  }

  #fromManifest(folder: string, name: string, kind: ManifestKind): Workload | undefined {
    const file = path.join(folder, name, MANIFEST);
    const configFile = path.join(folder, name, "config.yaml");
    const root = this.#files.tryRead(file);
    const result = root === undefined ? undefined : readManifest(root);
    const complaint = complaintAbout(result, name, kind, this.#files.tryRead(configFile) !== undefined);
    if (complaint !== undefined || result === undefined || !("manifest" in result)) {
      this.warnings.push(`Warning: ${file} is not used: ${complaint}`);
      return undefined;
    }
    const { manifest } = result;
    return {
      name,
      kind,
      status: "experimental",
      configFile,
      manifestFile: file,
      domain: manifest.domain,
      description: manifest.description,
      version: manifest.version,
      integrationProfile: manifest.integration_profile,
      modality: manifest.modality,
      licensing: manifest.licensing,
      lifecycle: manifest.lifecycle,
    };
  }

  /** A file that cannot be read is listed, so that its author sees it. */
  #hasBenchmark(file: string): boolean {
    const root = this.#files.tryRead(file);
    return root === undefined || mentions(root, "type", "benchmark");
  }
}

function environmentFiles(folder: string): string[] {
  const manifests = yamlFilesBelow(folder).filter((file) => path.posix.basename(file) === MANIFEST);
  const configs = subfolders(folder).flatMap((name) =>
    yamlFiles(path.join(folder, name)).includes("config.yaml") ? [`${name}/config.yaml`] : [],
  );
  return [...manifests, ...configs];
}

function complaintAbout(
  result: ReturnType<typeof readManifest> | undefined,
  name: string,
  kind: ManifestKind,
  hasConfig: boolean,
): string | undefined {
  if (result === undefined) return "it cannot be read.";
  if ("problems" in result) {
    return `${result.problems.map(({ path: at, message }) => `${at.join(".")}: ${message}`).join("; ")}.`;
  }
  const { manifest }: { manifest: Manifest } = result;
  if (manifest.kind !== kind) return `it says it is a ${manifest.kind}, but it lies among the ${kind}s.`;
  if (manifest.name !== name) return `it is called '${manifest.name}', but its folder '${name}'.`;
  return hasConfig ? undefined : "there is no config.yaml beside it that can be read.";
}

/** What a resources server's config is by itself: it needs a resources server, and an agent with datasets. */
function workloadKind(root: DictNode): ManifestKind | undefined {
  const blocks = [...serverBlocks(root)];
  if (!blocks.some(({ type }) => type === "resources_servers")) return undefined;
  const datasets = blocks.flatMap(({ type, block }) => {
    const list = type === "responses_api_agents" ? block.entries.get("datasets") : undefined;
    return list?.kind === "list" ? list.items.filter((item) => item.kind === "dict") : [];
  });
  if (datasets.length === 0) return undefined;
  const isBenchmark = (dataset: DictNode) => textOf(dataset.entries.get("type")) === "benchmark";
  return datasets.some(isBenchmark) ? "benchmark" : "environment";
}

function keyOf(kind: ManifestKind, name: string): string {
  return `${kind}:${name}`;
}

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
