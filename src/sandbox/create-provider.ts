import { errorMessage } from "../base/errors.ts";
import { type SandboxProviderName, sandboxProviders } from "../config/light-door.ts";
import { SandboxUnavailableError } from "./errors.ts";
import type { Cancellable, ListedSandbox, SandboxProvider } from "./provider.ts";
import type { ResolvedSandboxProvider } from "./resolve-provider.ts";

type Load = () => Promise<new (settings: unknown) => SandboxProvider>;

/** Loaded on demand: an unused provider costs nothing. */
const LOADERS: Readonly<Record<SandboxProviderName, Load>> = {
  bubblewrap: async () => (await import("./providers/bubblewrap/provider.ts")).BubblewrapProvider,
  docker: async () => (await import("./providers/docker.ts")).DockerProvider,
  apptainer: async () => (await import("./providers/apptainer.ts")).ApptainerProvider,
  enroot: async () => (await import("./providers/enroot.ts")).EnrootProvider,
  daytona: async () => (await import("./providers/daytona.ts")).DaytonaProvider,
  opensandbox: async () => (await import("./providers/opensandbox.ts")).OpenSandboxProvider,
  e2b: async () => {
    const [{ E2bProvider }, { loadE2bSdk }] = await Promise.all([
      import("./providers/e2b.ts"),
      import("./providers/e2b-sdk.ts"),
    ]);
    const sdk = await loadE2bSdk();
    return class extends E2bProvider {
      constructor(settings: unknown) {
        super(settings, sdk);
      }
    };
  },
  modal: async () => {
    const [{ ModalProvider }, { loadModalSdk }] = await Promise.all([
      import("./providers/modal.ts"),
      import("./providers/modal-sdk.ts"),
    ]);
    const sdk = await loadModalSdk();
    return class extends ModalProvider {
      constructor(settings: unknown) {
        super(settings, sdk);
      }
    };
  },
  ecs_fargate: unavailable(
    "ecs_fargate",
    "its tasks are driven through signed AWS requests and a tunnel into the task",
  ),
  openshell: unavailable("openshell", "speaking to its gateway is not implemented here"),
};

/** Creates the provider of a sandbox block. */
export async function createSandboxProvider({
  name,
  settings,
}: Pick<ResolvedSandboxProvider, "name" | "settings">): Promise<SandboxProvider> {
  const Provider = await LOADERS[name]();
  return new Provider(settings);
}

function unavailable(name: string, reason: string): Load {
  return async () => {
    throw new SandboxUnavailableError(
      `The sandbox provider '${name}' is not available in this build: ${reason}. ` +
        "Use 'docker', 'apptainer' or 'enroot' for container images, 'daytona', 'e2b', 'modal' or 'opensandbox' for a service, " +
        "'bubblewrap' for the programs of this machine, or run the agent as a Python server.",
    );
  };
}

/** Whether a provider can create sandboxes on this machine. */
export interface ProviderCheck {
  provider: SandboxProviderName;
  /** The tested program, if the provider can use several. */
  program?: string;
  works: boolean;
  /** The version, or the reason why it does not work, with a remedy. */
  detail: string;
}

/** The programs that the provider `docker` can use. */
const CONTAINER_PROGRAMS = ["docker", "podman"];

/** Tests every provider with the given or default settings, and `docker` with each of its programs. */
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
      const detail = await provider.check?.(options);
      if (detail !== undefined) return { provider: name, works: true, detail };
      return {
        provider: name,
        works: false,
        detail: "Its settings are complete. A service is not tried here.",
      };
    } finally {
      await provider.aclose();
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    return { provider: name, works: false, detail: errorMessage(error) };
  }
}

/** Providers with sandboxes on this machine. */
const LOCAL = [
  "bubblewrap",
  "docker",
  "apptainer",
  "enroot",
] as const satisfies readonly SandboxProviderName[];

/** A sandbox on this machine, with a function that removes it. */
export interface FoundSandbox extends ListedSandbox {
  provider: SandboxProviderName;
  remove(): Promise<void>;
}

/** The sandboxes of all providers that work on this machine. */
export async function findSandboxes(options: Cancellable = {}): Promise<FoundSandbox[]> {
  const found = await Promise.all(LOCAL.map((name) => sandboxesOf(name, options)));
  return found.flat();
}

async function sandboxesOf(name: SandboxProviderName, options: Cancellable): Promise<FoundSandbox[]> {
  const provider = await createSandboxProvider({ name, settings: undefined });
  try {
    const listed = (await provider.list?.(options)) ?? [];
    return listed.map((sandbox) => ({
      ...sandbox,
      provider: name,
      remove: async () => provider.remove?.(sandbox.id, options),
    }));
  } catch {
    // Not installed, or its engine does not run, so there are no sandboxes. `gym sandbox doctor` shows the reason.
    options.signal?.throwIfAborted();
    return [];
  }
}
