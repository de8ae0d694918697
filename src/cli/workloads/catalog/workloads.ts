import { existsSync } from "node:fs";
import path from "node:path";
import { byCodePoint, caseFold } from "../../../base/python/door.ts";
import { suggest } from "../../../base/suggest.ts";
import { serverBlocks } from "../../../config/door.ts";
import { RegistryError } from "../../../config/errors.ts";
import { type DictNode, impliedConfig, textOfNode } from "../../../config/light-door.ts";
import { type ConfigFiles, datasetsOf, mentions } from "./config-files.ts";
import { subfolders, yamlFiles, yamlFilesBelow } from "./folders.ts";
import { type Manifest, type ManifestKind, readWorkloadManifest } from "./manifest.ts";

/** An environment or a benchmark. */
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
  /** The value of `--resources-server`, for workloads in the folder of a resources server. */
  readonly resourcesServer?: string;
}

const MANIFEST = "manifest.yaml";

export interface WorkloadCatalog {
  /** Sorted by name, then kind. */
  readonly entries: readonly Workload[];
  /** Manifests that could not be used, with the reasons. */
  readonly warnings: readonly string[];
}

/** Finds every environment and benchmark under the roots. An entry hides those of later roots with the same name. */
export function discoverWorkloads(files: ConfigFiles): WorkloadCatalog {
  const search = new WorkloadSearch(files);
  for (const root of files.roots) {
    search.tree(path.join(root, "environments"), "environment");
    search.tree(path.join(root, "benchmarks"), "benchmark");
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

  /** Searches one folder of a root: first entries with a manifest, then those with only a config. */
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
    const entry: Workload = { ...found, status: "no-manifest", domain, description };
    this.#entries.set(keyOf(found.kind, found.name), entry);
  }

  /** Adds the configs of resources servers that include an agent with datasets. */
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
    const result = root === undefined ? undefined : readWorkloadManifest(root);
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

  /** True for an unreadable file too, so that it is listed and its author notices. */
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
  result: ReturnType<typeof readWorkloadManifest> | undefined,
  name: string,
  kind: ManifestKind,
  hasConfig: boolean,
): string | undefined {
  if (result === undefined) return "it cannot be read.";
  if ("problems" in result) {
    return `${result.problems.map(({ path: at, message }) => `${at.join(".")}: ${message}`).join("; ")}.`;
  }
  const { manifest }: { manifest: Manifest } = result;
  if (manifest.kind !== kind) return `its kind is ${manifest.kind}, but it is among the ${kind}s.`;
  if (manifest.name !== name) return `its name is '${manifest.name}', but its folder is '${name}'.`;
  return hasConfig ? undefined : "there is no config.yaml next to it that can be read.";
}

/** The kind of workload in the config of a resources server. Undefined if no agent has datasets. */
function workloadKind(root: DictNode): ManifestKind | undefined {
  const blocks = [...serverBlocks(root)];
  if (!blocks.some(({ type }) => type === "resources_servers")) return undefined;
  const agents = blocks.filter(({ type }) => type === "responses_api_agents");
  const datasets = agents.flatMap(({ block }) => datasetsOf(block));
  if (datasets.length === 0) return undefined;
  const isBenchmark = (dataset: DictNode) => textOfNode(dataset.entries.get("type")) === "benchmark";
  return datasets.some(isBenchmark) ? "benchmark" : "environment";
}

function keyOf(kind: ManifestKind, name: string): string {
  return `${kind}:${name}`;
}

/** Finds a catalog entry by name. The kind is needed only if an environment and a benchmark have the same name. */
export function findWorkload(
  entries: readonly Workload[],
  name: string,
  kind: ManifestKind | undefined,
): Workload {
  const called = entriesNamed(entries, name);
  const ofKind = (entry: Workload) => kind === undefined || entry.kind === kind;
  const matches = called.filter(ofKind);
  const [match] = matches;
  if (match === undefined) {
    const [other] = called;
    const known = entries.filter(ofKind).map((entry) => entry.name);
    const nearest = suggest(name, known);
    let hint = nearest === undefined ? "" : ` Did you mean \`${nearest}\`?`;
    if (other !== undefined) hint = ` It is ${other.kind === "environment" ? "an" : "a"} ${other.kind}.`;
    throw new RegistryError(`Unknown catalog entry '${name}'${kind ? ` of kind '${kind}'` : ""}.${hint}`);
  }
  if (matches.length > 1) {
    const kinds = matches.map((entry) => entry.kind).sort();
    throw new RegistryError(`'${name}' is ambiguous (${kinds.join(", ")}); choose one with --kind.`);
  }
  return match;
}

/** A workload in a resources server also has the name of that server. */
function entriesNamed(entries: readonly Workload[], name: string): Workload[] {
  const exact = entries.filter((entry) => entry.name === name);
  return exact.length > 0 ? exact : entries.filter((entry) => entry.resourcesServer === name);
}

/** The manifest of a workload, even if the catalog could not use it, so that its problems can be reported. */
export function manifestOf({ manifestFile, configFile }: Workload): string | undefined {
  if (manifestFile !== undefined) return manifestFile;
  const beside = path.join(path.dirname(configFile), MANIFEST);
  return path.basename(configFile) === "config.yaml" && existsSync(beside) ? beside : undefined;
}
