import { type SandboxProviderName, sandboxProviders } from "../config/servers/sandbox-blocks.ts";
import { errorMessage } from "../errors.ts";
import { createSandboxProvider } from "./create-provider.ts";
import type { Cancellable } from "./provider.ts";

/** Whether a provider can make sandboxes on this machine. */
export interface ProviderCheck {
  provider: SandboxProviderName;
  works: boolean;
  /** The version, or why it does not work and what to do about it. */
  detail: string;
}

/** Tries every provider with its default settings, or with those given for it. */
export async function checkProviders(
  settings: Partial<Record<SandboxProviderName, unknown>> = {},
  options: Cancellable = {},
): Promise<ProviderCheck[]> {
  return Promise.all(sandboxProviders.map((name) => checkProvider(name, settings[name], options)));
}

export async function checkProvider(
  name: SandboxProviderName,
  settings?: unknown,
  options: Cancellable = {},
): Promise<ProviderCheck> {
  try {
    const provider = await createSandboxProvider({ name, settings });
    try {
      if (provider.check === undefined)
        return {
          provider: name,
          works: false,
          detail: "Its settings are complete. A service is not tried here.",
        };
      return { provider: name, works: true, detail: await provider.check(options) };
    } finally {
      await provider.aclose();
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    return { provider: name, works: false, detail: errorMessage(error) };
  }
}
