import { textsOption } from "../../cli-provider.ts";
import type { SandboxSpec } from "../../spec.ts";
import type { DockerSettings } from "./settings.ts";

export const SANDBOX_LABEL = "nemo-gym.sandbox";

/** The words after `docker` that start a container which waits for commands. */
export function runArguments(
  spec: SandboxSpec,
  image: string,
  name: string,
  create: DockerSettings["create"],
): string[] {
  const flags = (flag: string, values: readonly string[]) => values.flatMap((value) => [flag, value]);
  const labels = Object.entries(spec.metadata).map(([key, value]) => `${key}=${value}`);
  // A container with a time to live removes itself when its only process ends.
  const expires = spec.ttl_s !== undefined && spec.entrypoint === undefined;
  return [
    ...["run", "-d", "--name", name, "--label", `${SANDBOX_LABEL}=1`],
    ...flags("--label", labels),
    ...(create.use_init ? ["--init"] : []),
    ...(spec.workdir === undefined ? [] : ["-w", spec.workdir]),
    ...flags(
      "--env",
      Object.entries(spec.env).map(([key, value]) => `${key}=${value}`),
    ),
    ...(create.apply_resource_limits ? limitArguments(spec, create) : []),
    ...(spec.resources.gpu ? ["--gpus", String(spec.resources.gpu)] : []),
    ...networkArguments(spec, create),
    ...(create.read_only ? ["--read-only"] : []),
    ...flags("--cap-drop", create.cap_drop),
    ...flags("--security-opt", create.security_opt),
    ...(create.pids_limit === null ? [] : ["--pids-limit", String(create.pids_limit)]),
    ...flags(
      "--publish",
      spec.ports.map((port) => `${bracketed(create.publish_host)}::${port}/tcp`),
    ),
    ...flags("-v", textsOption(spec.provider_options, "volumes")),
    ...create.extra_run_args,
    ...textsOption(spec.provider_options, "run_args"),
    ...(expires ? ["--rm"] : []),
    ...commandWords(spec, image, create),
  ];
}

function commandWords(spec: SandboxSpec, image: string, create: DockerSettings["create"]): string[] {
  const [program, ...rest] = spec.entrypoint ?? [];
  if (program !== undefined) return ["--entrypoint", program, image, ...rest];
  const wait =
    spec.ttl_s === undefined ? create.keepalive_cmd : `sleep ${Math.max(1, Math.ceil(spec.ttl_s))}`;
  return ["--entrypoint", create.keepalive_shell, image, "-c", wait];
}

function limitArguments({ resources }: SandboxSpec, create: DockerSettings["create"]): string[] {
  const cpu = resources.cpu ?? create.default_cpu;
  const memory = resources.memory_mib ?? create.default_memory_mib;
  return [
    ...(cpu === null ? [] : ["--cpus", String(cpu)]),
    // Swap as large as the memory means none: the limit is hard.
    ...(memory === null ? [] : ["--memory", `${memory}m`, "--memory-swap", `${memory}m`]),
  ];
}

function networkArguments({ ports }: SandboxSpec, { network }: DockerSettings["create"]): string[] {
  if (network === null) return [];
  if (network !== undefined) return ["--network", network];
  return ports.length > 0 ? [] : ["--network", "none"];
}

export function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
