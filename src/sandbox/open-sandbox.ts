import { z } from "zod";
import { attribution } from "./attribution.ts";
import { createSandboxProvider } from "./create-provider.ts";
import type { Cancellable, SandboxProvider } from "./provider.ts";
import {
  CONVENTIONAL_BLOCK,
  type ResolvedSandboxProvider,
  resolveSandboxProvider,
} from "./resolve-provider.ts";
import { Sandbox } from "./sandbox.ts";
import { parseSandboxSpec, type SandboxSpecInput } from "./spec.ts";

/**
 * Fields for the config schema of a server that runs code: the provider, and the spec of every sandbox.
 *
 * @example
 * config: z.object({ ...sandboxConfig, max_steps: z.number().default(10) })
 */
export const sandboxConfig = {
  sandbox_provider: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
  sandbox_spec: z.record(z.string(), z.unknown()).nullish(),
};

/** The part of a server's context that sandboxes need. */
export interface SandboxServer {
  readonly name: string;
  readonly config: unknown;
  readonly globalConfig: Readonly<Record<string, unknown>>;
}

/** All sandboxes of a server share a provider and its concurrency limits. */
const providers = new WeakMap<SandboxServer, Promise<SandboxProvider>>();

/**
 * Starts a sandbox for a server: with its `sandbox_provider`, else with the top-level block `sandbox`, else with bubblewrap
 * on this machine. `spec` takes precedence over the server's `sandbox_spec`. The caller must stop the sandbox.
 *
 * @example
 * const sandbox = await openSandbox(server, { files: { "main.py": code } }, { signal });
 * try {
 *   const { stdout } = await sandbox.exec("python3 main.py", { timeoutSeconds: 10, signal });
 * } finally {
 *   await sandbox.stop();
 * }
 */
export async function openSandbox(
  server: SandboxServer,
  spec: SandboxSpecInput = {},
  options: Cancellable = {},
): Promise<Sandbox> {
  const resolved = providerOf(server);
  const base = parseSandboxSpec(fieldsOf(server).sandbox_spec);
  const own = parseSandboxSpec(spec);
  const provider = await sharedProvider(server, resolved);
  const merged: SandboxSpecInput = {
    ...base,
    ...definedOf(own),
    env: { ...base.env, ...own.env },
    files: { ...base.files, ...own.files },
    metadata: { ...base.metadata, ...own.metadata },
    resources: { ...base.resources, ...definedOf(own.resources) },
    provider_options: { ...base.provider_options, ...own.provider_options },
    ports: own.ports.length > 0 ? own.ports : base.ports,
  };
  const sandbox = new Sandbox(provider, merged, {
    defaultMetadata: resolved.defaultMetadata,
    attribution: attribution({ workloadFallback: server.name }),
    ownsProvider: false,
  });
  return sandbox.start(undefined, options);
}

/** The provider in the config of a server. */
export function providerOf(server: SandboxServer): ResolvedSandboxProvider {
  const named = fieldsOf(server).sandbox_provider;
  if (named === undefined || named === null) {
    const hasBlock = Object.hasOwn(server.globalConfig, CONVENTIONAL_BLOCK);
    return resolveSandboxProvider(server.globalConfig, hasBlock ? CONVENTIONAL_BLOCK : { bubblewrap: {} });
  }
  return resolveSandboxProvider(server.globalConfig, named);
}

function sharedProvider(server: SandboxServer, resolved: ResolvedSandboxProvider): Promise<SandboxProvider> {
  const known = providers.get(server);
  if (known !== undefined) return known;
  const made = createSandboxProvider(resolved);
  providers.set(server, made);
  // A later attempt may succeed, for example after the installation of a missing program.
  made.catch(() => providers.delete(server));
  return made;
}

function fieldsOf({ config }: SandboxServer): { sandbox_provider?: unknown; sandbox_spec?: unknown } {
  return (config ?? {}) as { sandbox_provider?: unknown; sandbox_spec?: unknown };
}

function definedOf<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Partial<T>;
}
