import type { SandboxProviderName } from "../config/servers/sandbox-blocks.ts";
import { SandboxUnavailableError } from "./errors.ts";
import type { SandboxProvider } from "./provider.ts";
import type { ResolvedSandboxProvider } from "./resolve-provider.ts";

type Load = (settings: unknown) => Promise<SandboxProvider>;

/** Loaded when asked for: nobody pays for a provider that is not used. */
const LOADERS: Readonly<Record<SandboxProviderName, Load>> = {
  bubblewrap: async (settings) =>
    new (await import("./providers/bubblewrap/provider.ts")).BubblewrapProvider(settings),
  docker: async (settings) => new (await import("./providers/docker/provider.ts")).DockerProvider(settings),
  apptainer: async (settings) =>
    new (await import("./providers/apptainer/provider.ts")).ApptainerProvider(settings),
  enroot: async (settings) => new (await import("./providers/enroot/provider.ts")).EnrootProvider(settings),
  daytona: async (settings) =>
    new (await import("./providers/daytona/provider.ts")).DaytonaProvider(settings),
  opensandbox: async (settings) =>
    new (await import("./providers/opensandbox/provider.ts")).OpenSandboxProvider(settings),
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
