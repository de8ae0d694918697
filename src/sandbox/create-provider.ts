import { type SandboxProviderName, sandboxProviders } from "../config/servers/sandbox-blocks.ts";
import { errorMessage } from "../errors.ts";
import { SandboxUnavailableError } from "./errors.ts";
import type { Cancellable, ListedSandbox, SandboxProvider } from "./provider.ts";
import type { ResolvedSandboxProvider } from "./resolve-provider.ts";

type Load = (settings: unknown) => Promise<SandboxProvider>;

/** Loaded on demand: an unused provider costs nothing. */
const LOADERS: Readonly<Record<SandboxProviderName, Load>> = {
  bubblewrap: async (settings) =>
    new (await import("./providers/bubblewrap/provider.ts")).BubblewrapProvider(settings),
  docker: async (settings) => new (await import("./providers/docker.ts")).DockerProvider(settings),
  apptainer: async (settings) => new (await import("./providers/apptainer.ts")).ApptainerProvider(settings),
  enroot: async (settings) => new (await import("./providers/enroot.ts")).EnrootProvider(settings),
  daytona: async (settings) => new (await import("./providers/daytona.ts")).DaytonaProvider(settings),
  opensandbox: async (settings) =>
    new (await import("./providers/opensandbox.ts")).OpenSandboxProvider(settings),
  ecs_fargate: unavailable(
    "ecs_fargate",
    "its tasks are driven through signed AWS requests and a tunnel into the task",
  ),
  openshell: unavailable("openshell", "speaking to its gateway is not implemented here"),
};

/** Makes the provider a sandbox block asks for. */
export async function createSandboxProvider({
  name,
  settings,
}: Pick<ResolvedSandboxProvider, "name" | "settings">): Promise<SandboxProvider> {
  return LOADERS[name](settings);
}

function unavailable(name: string, reason: string): Load {
  return async () => {
    throw new SandboxUnavailableError(
      `The sandbox provider '${name}' is not available in this build: ${reason}. ` +
        "Use 'docker', 'apptainer' or 'enroot' for container images, 'daytona' or 'opensandbox' for a service, " +
        "'bubblewrap' for the programs of this machine, or run the agent as a Python server.",
    );
  };
}

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
    // Not installed, or its engine does not run: `gym sandbox doctor` shows why. It has no sandboxes in this case.
    options.signal?.throwIfAborted();
    return [];
  }
}
