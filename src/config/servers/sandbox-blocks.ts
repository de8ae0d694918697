import { suggest } from "../../base/suggest.ts";
import { ConfigError, place } from "../errors.ts";
import type { Interpolator, Located } from "../interpolation/interpolate.ts";
import { type ConfigNode, type DictNode, positionOf } from "../node.ts";
import type { ServerBlock } from "./server-schema.ts";

/** The provider keys of sandbox blocks. */
export const sandboxProviders = [
  "bubblewrap",
  "docker",
  "apptainer",
  "enroot",
  "daytona",
  "e2b",
  "modal",
  "opensandbox",
  "ecs_fargate",
  "openshell",
] as const;
export type SandboxProviderName = (typeof sandboxProviders)[number];

export function isSandboxProvider(name: string): name is SandboxProviderName {
  return (sandboxProviders as readonly string[]).includes(name);
}

const FIELD = "sandbox_provider";
const NOT_PROVIDERS: ReadonlySet<string> = new Set(["default_metadata"]);

/**
 * Checks the `sandbox_provider` of every server: the block exists and has exactly one provider key. An unknown provider is
 * rejected only if it is similar to a known one, because Python servers have providers of their own.
 */
export function checkSandboxReferences(
  root: DictNode,
  servers: readonly ServerBlock[],
  interpolator: Interpolator,
): void {
  for (const server of servers) {
    const node = server.block.entries.get(FIELD);
    if (node === undefined) continue;
    const path = [server.name, server.type, server.implementation, FIELD];
    checkReference(root, server, interpolator.resolve(node, path), interpolator);
  }
}

function checkReference(
  root: DictNode,
  server: ServerBlock,
  value: Located,
  interpolator: Interpolator,
): void {
  const { node } = value;
  if (node.kind === "dict") checkBlock(node, `The inline ${FIELD} of '${server.name}'`);
  if (node.kind !== "scalar" || node.value === null) return;
  const name = String(node.value);
  const entry = root.entries.get(name);
  const target = entry && interpolator.resolve(entry, [name]).node;
  if (target === undefined) throw notFound(root, server, name, node);
  checkBlock(target, `The sandbox block '${name}'`);
}

function notFound(root: DictNode, server: ServerBlock, name: string, node: ConfigNode): ConfigError {
  const close = suggest(name, blockNames(root));
  const hint =
    close === undefined
      ? `Add one, for example '${name}: {bubblewrap: {}}', or include the config that has it.`
      : `Did you mean '${close}'?`;
  return new ConfigError(
    `In server instance '${server.name}', ${FIELD} refers to the sandbox block '${name}', which is not in the config${place(positionOf(node))}. ${hint}`,
    { code: "CONFIG_SANDBOX", position: positionOf(node) },
  );
}

function checkBlock(node: ConfigNode, what: string): void {
  const keys = node.kind === "dict" ? providerKeys(node) : [];
  const [name] = keys;
  if (name !== undefined && keys.length === 1) {
    checkName(name, node, what);
    return;
  }
  const problem =
    keys.length === 0 ? "names no provider" : `has ${keys.length} provider keys (${keys.join(", ")})`;
  throw new ConfigError(
    `${what} ${problem}${place(positionOf(node))}. It must have exactly one of: ${sandboxProviders.join(", ")}.`,
    { code: "CONFIG_SANDBOX", position: positionOf(node) },
  );
}

function checkName(name: string, block: ConfigNode, what: string): void {
  const close = isSandboxProvider(name) ? undefined : suggest(name, sandboxProviders);
  if (close === undefined) return;
  const written = block.kind === "dict" ? block.entries.get(name) : undefined;
  const position = positionOf(written) ?? positionOf(block);
  throw new ConfigError(
    `${what} names the unknown provider '${name}'${place(position)}. Did you mean '${close}'?`,
    { code: "CONFIG_SANDBOX", position },
  );
}

function providerKeys(node: DictNode): string[] {
  return [...node.entries.keys()].map(String).filter((key) => !NOT_PROVIDERS.has(key));
}

function blockNames(root: DictNode): string[] {
  return [...root.entries]
    .filter(([, node]) => node.kind === "dict" && providerKeys(node).some(isSandboxProvider))
    .map(([key]) => String(key));
}
