import type { SandboxProviderName } from "../config/servers/sandbox-blocks.ts";
import { createSandboxProvider } from "./create-provider.ts";
import type { Cancellable, ListedSandbox, SandboxProvider } from "./provider.ts";

/** Providers whose sandboxes are on this machine. */
const LOCAL = [
  "bubblewrap",
  "docker",
  "apptainer",
  "enroot",
] as const satisfies readonly SandboxProviderName[];

/** A sandbox on this machine, and the way to remove it. */
export interface FoundSandbox extends ListedSandbox {
  provider: SandboxProviderName;
  remove(): Promise<void>;
}

/** The sandboxes of all providers that work here. */
export async function findSandboxes(options: Cancellable = {}): Promise<FoundSandbox[]> {
  const found = await Promise.all(LOCAL.map((name) => sandboxesOf(name, options)));
  return found.flat();
}

async function sandboxesOf(name: SandboxProviderName, options: Cancellable): Promise<FoundSandbox[]> {
  const provider: SandboxProvider = await createSandboxProvider({ name, settings: undefined });
  try {
    const listed = (await provider.list?.(options)) ?? [];
    return listed.map((sandbox) => ({
      ...sandbox,
      provider: name,
      remove: async () => provider.remove?.(sandbox.id, options),
    }));
  } catch {
    // Not installed, or its engine does not run: `gym sandbox doctor` tells. Then it has no sandboxes either.
    options.signal?.throwIfAborted();
    return [];
  }
}
