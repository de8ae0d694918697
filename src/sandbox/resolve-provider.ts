import { isObject } from "../base/python/json/door.ts";
import { suggest } from "../base/suggest.ts";
import {
  isSandboxProvider as isBuiltIn,
  sandboxProviders as PROVIDER_NAMES,
  type SandboxProviderName,
} from "../config/light-door.ts";
import { SandboxConfigError } from "./errors.ts";

/** The only key of a sandbox block besides its provider. */
const DEFAULT_METADATA = "default_metadata";
/** The block of a server without `sandbox_provider`. */
export const CONVENTIONAL_BLOCK = "sandbox";

/** The provider of a sandbox block and its settings. */
export interface ResolvedSandboxProvider {
  name: SandboxProviderName;
  settings: unknown;
  defaultMetadata: Record<string, string>;
}

/**
 * Finds the provider in a config by the name of a top-level block (`sandbox_provider: sandbox`), or by the block itself.
 * A block has exactly one provider key, and may have `default_metadata`.
 *
 * @example
 * resolveSandboxProvider({ sandbox: { docker: {} } }, "sandbox").name; // "docker"
 * resolveSandboxProvider({}, { bubblewrap: { limits: { processes: 32 } } }).name; // "bubblewrap"
 */
export function resolveSandboxProvider(
  config: Readonly<Record<string, unknown>>,
  reference: unknown,
): ResolvedSandboxProvider {
  const { block, source } = findBlock(config, reference);
  if (!isObject(block))
    throw new SandboxConfigError(`${source} must be a mapping with one provider key, not ${kindOf(block)}.`);
  const keys = providerKeys(block);
  const [name] = keys;
  if (name === undefined)
    throw new SandboxConfigError(`${source} names no provider. Add one of: ${PROVIDER_NAMES.join(", ")}.`);
  if (keys.length > 1)
    throw new SandboxConfigError(
      `${source} must have exactly one provider key, but has ${keys.map((key) => `'${key}'`).join(", ")}. ` +
        "Keep one, and put other providers into their own blocks.",
    );
  return { name: knownName(name, source), settings: block[name], defaultMetadata: metadataOf(block, source) };
}

function findBlock(
  config: Readonly<Record<string, unknown>>,
  reference: unknown,
): { block: unknown; source: string } {
  if (isObject(reference)) return { block: reference, source: "The inline sandbox_provider" };
  if (typeof reference !== "string" || reference === "")
    throw new SandboxConfigError(
      `sandbox_provider must be the name of a top-level block or a mapping with one provider key, not ${kindOf(reference)}.`,
    );
  const block = Object.hasOwn(config, reference) ? config[reference] : undefined;
  if (block !== undefined && block !== null) return { block, source: `The sandbox block '${reference}'` };
  throw new SandboxConfigError(
    `The sandbox block '${reference}' is not in the config. ${suggestBlock(config, reference)}`,
  );
}

function suggestBlock(config: Readonly<Record<string, unknown>>, reference: string): string {
  const names = Object.keys(config).filter((key) => looksLikeSandbox(config[key]));
  const close = suggest(reference, names);
  if (close !== undefined) return `Did you mean '${close}'?`;
  if (names.length > 0) return `Sandbox blocks: ${names.toSorted().join(", ")}.`;
  const advice = isBuiltIn(reference)
    ? ` To use a provider without a block write it inline: {${reference}: {}}.`
    : "";
  return `Add one at the top level, for example '${reference}: {bubblewrap: {}}'.${advice}`;
}

function knownName(name: string, source: string): SandboxProviderName {
  if (isBuiltIn(name)) return name;
  const close = suggest(name, PROVIDER_NAMES);
  const hint = close === undefined ? `Known: ${PROVIDER_NAMES.join(", ")}.` : `Did you mean '${close}'?`;
  throw new SandboxConfigError(`${source} names the unknown provider '${name}'. ${hint}`);
}

function metadataOf(block: Readonly<Record<string, unknown>>, source: string): Record<string, string> {
  const metadata = block[DEFAULT_METADATA] ?? {};
  if (!isObject(metadata))
    throw new SandboxConfigError(
      `${source}: ${DEFAULT_METADATA} must be a mapping, not ${kindOf(metadata)}.`,
    );
  const wrong = Object.entries(metadata).find(([, value]) => typeof value !== "string");
  if (wrong !== undefined)
    throw new SandboxConfigError(
      `${source}: ${DEFAULT_METADATA}.${wrong[0]} must be a text, not ${kindOf(wrong[1])}.`,
    );
  return metadata as Record<string, string>;
}

function providerKeys(block: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(block).filter((key) => key !== DEFAULT_METADATA);
}

function looksLikeSandbox(value: unknown): boolean {
  if (!isObject(value)) return false;
  const keys = providerKeys(value);
  return keys.length === 1 && keys.every(isBuiltIn);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  return value === "" ? "an empty text" : `the ${typeof value} ${JSON.stringify(value)}`;
}
