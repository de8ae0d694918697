import { maskSecrets } from "../base/secrets.ts";
import { Interpolator } from "./interpolation/interpolate.ts";
import { childOf, formatPath, type KeyPath, rawNodeAt, splitKey } from "./key-path.ts";
import type { ConfigNode, DictNode } from "./node.ts";
import { plainFromNode } from "./plain-data.ts";
import { type Provenance, referencedKeys, sourcesOf } from "./provenance.ts";
import { integerFrom } from "./schema-problems.ts";
import { maskedCopy } from "./secrets.ts";
import type { ServerBlock } from "./servers/server-schema.ts";
import type { ServerType } from "./servers/server-types.ts";
import { writeYaml } from "./yaml/write.ts";

/** Maximum nesting of the references that `explain` shows. */
const MAX_EXPLAINED_REFERENCES = 5;

/** A configured server with its address. */
export interface ServerInstance {
  readonly name: string;
  readonly type: ServerType;
  readonly implementation: string;
  readonly entrypoint: string;
  readonly host: string;
  readonly port: number;
  /** The innermost block; its interpolations are resolved when it is read. */
  readonly config: Record<string, unknown>;
}

/** Where a value came from. */
export interface Explanation {
  path: string;
  value: unknown;
  /** Lowest precedence first. */
  sources: { where: string; value: unknown; won: boolean }[];
  /** The sources of the keys that the winning value refers to. */
  references?: Explanation[];
}

/** A resolved config. */
export interface ResolvedConfig {
  /** Plain data with all interpolations resolved. */
  toObject(options?: { hideSecrets?: boolean }): Record<string, unknown>;
  /** YAML. By default interpolations stay as written; child processes receive this form. */
  toYaml(options?: { resolve?: boolean; hideSecrets?: boolean }): string;
  /** The resolved value at a dotted path (`a.b[0]`); undefined if the path does not exist. */
  get(path: string): unknown;
  /** Valid server instances in config order. */
  readonly servers: readonly ServerInstance[];
  /** Every source that set a value, and which one won. */
  explain(path: string): Explanation;
}

export class FinishedConfig implements ResolvedConfig {
  readonly servers: readonly ServerInstance[];
  readonly #root: DictNode;
  readonly #env: NodeJS.ProcessEnv;
  readonly #interpolator: Interpolator;
  readonly #provenance: Provenance;
  readonly #hideSecrets: boolean;

  constructor(
    root: DictNode,
    servers: readonly ServerBlock[],
    env: NodeJS.ProcessEnv,
    provenance: Provenance,
    hideSecrets = false,
  ) {
    this.#root = root;
    this.#env = env;
    this.#interpolator = new Interpolator(root, env);
    this.#provenance = provenance;
    this.#hideSecrets = hideSecrets;
    this.servers = servers.map((server) => new ConfiguredServer(server, this.#interpolator));
  }

  toObject(options: { hideSecrets?: boolean } = {}): Record<string, unknown> {
    return plainFromNode(this.#resolved(options.hideSecrets ?? false)) as Record<string, unknown>;
  }

  toYaml(options: { resolve?: boolean; hideSecrets?: boolean } = {}): string {
    if (options.resolve) return writeYaml(this.#resolved(options.hideSecrets ?? false));
    return writeYaml(options.hideSecrets ? maskedCopy(this.#root, this.#env) : this.#root);
  }

  get(path: string): unknown {
    const target = this.#interpolator.select({ node: this.#root, path: [] }, splitKey(path));
    return target && plainFromNode(this.#interpolator.resolveDeep(target.node, target.path));
  }

  explain(path: string): Explanation {
    return this.#explain(path, 0);
  }

  #explain(text: string, depth: number): Explanation {
    const path = this.#locate(splitKey(text));
    const final = rawNodeAt(this.#root, path);
    const sources = sourcesOf(path, final, this.#provenance);
    const explanation: Explanation = {
      path: formatPath(path),
      value: this.get(text),
      sources: sources.map(({ where, node, won }) => ({ where, value: this.#shown(node, path), won })),
    };
    const keys = depth < MAX_EXPLAINED_REFERENCES ? referencedKeys(final, path) : [];
    if (keys.length > 0) explanation.references = keys.map((key) => this.#explain(key, depth + 1));
    return explanation;
  }

  /** The path with the keys of the config, so that list indexes are numbers. */
  #locate(segments: readonly string[]): KeyPath {
    const path: (string | number)[] = [];
    let node: ConfigNode | undefined = this.#root;
    for (const segment of segments) {
      const child: ReturnType<typeof childOf> = node && childOf(node, segment);
      path.push(child?.segment ?? segment);
      node = child?.node;
    }
    return path;
  }

  #shown(node: ConfigNode, path: KeyPath): unknown {
    const value = plainFromNode(node);
    if (!this.#hideSecrets) return value;
    const names = path.filter((segment) => typeof segment === "string");
    const [parent = "", name = ""] = ["", ...names].slice(-2);
    return maskSecrets({ [parent]: { [name]: value } })[parent]?.[name];
  }

  #resolved(hideSecrets: boolean): ConfigNode {
    if (!hideSecrets) return this.#interpolator.resolveDeep(this.#root, []);
    const masked = maskedCopy(this.#root, this.#env);
    return new Interpolator(masked, this.#env).resolveDeep(masked, []);
  }
}

class ConfiguredServer implements ServerInstance {
  readonly name: string;
  readonly type: ServerType;
  readonly implementation: string;
  readonly #block: DictNode;
  readonly #interpolator: Interpolator;

  constructor(server: ServerBlock, interpolator: Interpolator) {
    this.name = server.name;
    this.type = server.type;
    this.implementation = server.implementation;
    this.#block = server.block;
    this.#interpolator = interpolator;
  }

  get entrypoint(): string {
    return this.#text("entrypoint");
  }

  get host(): string {
    return this.#text("host");
  }

  get port(): number {
    return integerFrom(this.#field("port")) ?? -1;
  }

  get config(): Record<string, unknown> {
    return plainFromNode(this.#interpolator.resolveDeep(this.#block, this.#path)) as Record<string, unknown>;
  }

  get #path(): string[] {
    return [this.name, this.type, this.implementation];
  }

  #text(field: string): string {
    const node = this.#field(field);
    return node?.kind === "scalar" ? String(node.value) : "";
  }

  #field(field: string): ConfigNode | undefined {
    const node = this.#block.entries.get(field);
    return node && this.#interpolator.resolve(node, [...this.#path, field]).node;
  }
}
