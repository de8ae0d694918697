import { existsSync } from "node:fs";
import path from "node:path";
import { topLevelValue } from "./defaults.ts";
import { applyDirectives } from "./directives.ts";
import { ConfigPathNotFoundError } from "./errors.ts";
import { loadFiles, readConfigPaths } from "./load-includes.ts";
import { mergeDicts } from "./merge.ts";
import { checkMissingValues, fillUnset } from "./missing-values.ts";
import { type ConfigNode, DEFAULT_ORIGIN, type DictNode, dict, isTruthyNode, type Source } from "./node.ts";
import { applyOverrides, type Override } from "./overrides/apply-overrides.ts";
import { candidatePaths, installRoot, searchRoots } from "./paths.ts";
import { nodeFromPlain } from "./plain-data.ts";
import type { Provenance } from "./provenance.ts";
import { checkInterpolationSyntax, readConfigFile } from "./read-config-file.ts";
import { aliasedInstance, currentComponentName } from "./servers/aliases.ts";
import { addInheritedRelays, followAgents, movedBlocks } from "./servers/environment-blocks.ts";
import { foldDummyModels, NO_MODEL } from "./servers/no-model.ts";
import { swapAgents } from "./servers/swap-agent.ts";

export type NoticeStream = "stdout" | "stderr";

export interface ComposeOptions {
  /** Command line words and flags, in order. */
  overrides?: readonly Override[];
  /** Values below the command line and above everything else. */
  initial?: Record<string, unknown>;
  /** Starts from empty model settings and a dummy model, for commands that need no model. */
  noModel?: boolean;
  /** An explicit `env.yaml` instead of the one found under the search roots. */
  envYamlPath?: string;
  skipCli?: boolean;
  skipEnvYaml?: boolean;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  installRoot?: string;
  /** Placeholder for every `???` and every unresolvable interpolation, for reading incomplete configs. */
  standIn?: string;
  /** Receives warnings and notices; `stream` is where the Python original prints them. */
  onNotice?: (text: string, stream: NoticeStream) => void;
}

/** The merged sources with directives applied and no value missing. Servers are not checked yet. */
export interface ComposedConfig {
  root: DictNode;
  env: NodeJS.ProcessEnv;
  cwd: string;
  installRoot: string;
  provenance: Provenance;
  notice: (text: string, stream: NoticeStream) => void;
}

/** Loads and merges every source of a config, in the order of precedence. */
export function composeConfig(options: ComposeOptions): ComposedConfig {
  const { env = process.env, onNotice = () => {} } = options;
  const cwd = path.resolve(options.cwd ?? process.cwd());
  const install = options.installRoot ?? installRoot();
  const roots = searchRoots({ env, cwd, installRoot: install });

  const initial = initialValues(options);
  const commandLine = options.skipCli ? dict(DEFAULT_ORIGIN) : applyOverrides(options.overrides ?? [], env);
  checkInterpolationSyntax(commandLine);
  const last = merge([initial, commandLine], env);
  const envYaml =
    (options.skipEnvYaml ? undefined : loadEnvYaml(roots, cwd, options.envYamlPath)) ?? dict(DEFAULT_ORIGIN);

  const given = readConfigPaths(merge([envYaml, last], env), env);
  const { paths, files: fileLayers, duplicates } = loadFiles(given, roots, env);
  if (duplicates.length > 0) onNotice(duplicatesNotice(duplicates), "stdout");

  const implementations = implementationNames(fileLayers);
  const renamed = (layer: DictNode) => withCurrentNames(layer, implementations, onNotice);
  const envLayer = renamed(envYaml);
  const lastLayers = [renamed(initial), renamed(commandLine)];
  const root = merge([...fileLayers, envLayer, merge(lastLayers, env)], env);
  if (fileLayers.length > 0) {
    const { origin } = root.entries.get("config_paths") ?? root;
    root.entries.set("config_paths", nodeFromPlain(paths, origin));
  }

  addInheritedRelays(root);
  const derivations = applyDirectives(root, env);
  followAgents(root, movedBlocks(derivations));
  if (options.standIn === undefined) {
    if (isTruthyNode(topLevelValue(root, "replace_agents", env)))
      swapAgents(root, env, new Set(implementations.keys()));
    checkMissingValues(root);
  } else fillUnset(root, options.standIn, env);
  foldDummyModels(root, env);
  const layers = [...fileLayers, envLayer, ...lastLayers];
  const provenance: Provenance = { layers, derivations, cwd };
  return { root, env, cwd, installRoot: install, provenance, notice: onNotice };
}

function initialValues({ noModel, initial }: ComposeOptions): DictNode {
  const source: Source = noModel
    ? { kind: "initial", name: "values for commands that need no model" }
    : { kind: "initial", name: "values set by the program" };
  const values = { ...(noModel ? NO_MODEL : {}), ...initial };
  return nodeFromPlain(values, { source, line: 0, column: 0 }) as DictNode;
}

/** Merges sources into a new config; later ones take precedence. */
function merge(sources: readonly DictNode[], env: NodeJS.ProcessEnv): DictNode {
  const root = dict(DEFAULT_ORIGIN);
  for (const source of sources) mergeDicts(root, source, { root, path: [], env });
  return root;
}

/** Moves blocks with the old name of an instance to the current name. */
function withCurrentNames(
  layer: DictNode,
  implementations: ReadonlyMap<string, ReadonlySet<string>>,
  notice: ComposedConfig["notice"],
): DictNode {
  const known = new Set(implementations.keys());
  const entries = [...layer.entries].map(([key, node]): [typeof key, ConfigNode] => {
    const name = String(key);
    const renamed = node.kind === "dict" && !known.has(name) ? aliasedInstance(name, known) : undefined;
    const current = renamed === undefined || layer.entries.has(renamed) ? undefined : renamed;
    if (current !== undefined) notice(`'${name}' is now called '${current}'.`, "stderr");
    return [current ?? key, withCurrentImplementation(node, implementations.get(current ?? name))];
  });
  return dict(layer.origin, entries);
}

/** Renames old implementation names: the last word of `library_judge_math.resources_servers.library_judge_math`. */
function withCurrentImplementation(node: ConfigNode, known: ReadonlySet<string> | undefined): ConfigNode {
  if (node.kind !== "dict" || known === undefined) return node;
  const types = [...node.entries].map(([type, servers]): [typeof type, ConfigNode] => {
    if (servers.kind !== "dict") return [type, servers];
    const renamed = [...servers.entries].map(([key, value]): [typeof key, ConfigNode] => {
      const current = currentComponentName(String(key));
      return [!known.has(String(key)) && known.has(current) ? current : key, value];
    });
    return [type, dict(servers.origin, renamed)];
  });
  return dict(node.origin, types);
}

/** The implementation names of each instance in the files. */
function implementationNames(files: readonly DictNode[]): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>();
  for (const file of files) {
    for (const [instance, node] of file.entries) {
      const found = names.get(String(instance)) ?? new Set();
      names.set(String(instance), found);
      if (node.kind !== "dict") continue;
      for (const servers of node.entries.values())
        if (servers.kind === "dict") for (const name of servers.entries.keys()) found.add(String(name));
    }
  }
  return names;
}

function duplicatesNotice(duplicates: readonly string[]): string {
  return (
    "Several configs point at the same source path; it is loaded once. To use one block under two names, see " +
    `inherit_from.\nDuplicate config paths:\n${duplicates.map((entry) => `- ${entry}`).join("\n")}`
  );
}

/** The user's settings: the `env.yaml` of the first root that has one. */
function loadEnvYaml(
  roots: readonly string[],
  cwd: string,
  explicit: string | undefined,
): DictNode | undefined {
  const candidates =
    explicit === undefined ? candidatePaths("env.yaml", roots) : [path.resolve(cwd, explicit)];
  const file = candidates.find((candidate) => existsSync(candidate));
  if (file !== undefined) return readConfigFile(file, "env.yaml");
  if (explicit !== undefined)
    throw new ConfigPathNotFoundError(`env.yaml was not found at '${candidates[0]}'.`);
  return undefined;
}
