import { type SandboxProviderName, sandboxProviders } from "../config/servers/sandbox-blocks.ts";
import { errorMessage } from "../errors.ts";
import { createSandboxProvider } from "./create-provider.ts";
import type { Cancellable } from "./provider.ts";

/** Whether a provider can make sandboxes on this machine. */
export interface ProviderCheck {
  provider: SandboxProviderName;
  /** The program it was tried with, where it can use several. */
  program?: string;
  works: boolean;
  /** The version, or why it does not work and what to do about it. */
  detail: string;
}

/** The programs the provider `docker` can drive. */
const CONTAINER_PROGRAMS = ["docker", "podman"];

/** Tries every provider with its default settings, or with those given for it; `docker` with each program it can drive. */
export async function checkProviders(
  settings: Partial<Record<SandboxProviderName, unknown>> = {},
  options: Cancellable = {},
): Promise<ProviderCheck[]> {
  const checks = sandboxProviders.map(async (name) => {
    if (name !== "docker" || settings[name] !== undefined)
      return [await checkProvider(name, settings[name], options)];
    return Promise.all(
      CONTAINER_PROGRAMS.map(async (program) => {
        const { provider, ...check } = await checkProvider(name, { program }, options);
        return { provider, program, ...check };
      }),
    );
  });
  return (await Promise.all(checks)).flat();
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
