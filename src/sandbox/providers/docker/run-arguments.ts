import { textsOption } from "../../cli-provider.ts";
import { SandboxOperationError } from "../../errors.ts";
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

/** The URL for what `docker port` prints, one `host:port` a line; the loopback address is preferred. */
export function endpointFrom(printed: string, port: number, publishHost: string): string {
  const bindings = printed
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const binding = bindings.find((line) => line.startsWith("127.0.0.1:")) ?? bindings[0] ?? "";
  const [, written, digits] = /^(.*):(\d+)$/.exec(binding) ?? [];
  const hostPort = Number(digits);
  if (written === undefined || !(hostPort >= 1 && hostPort <= 65_535))
    throw new SandboxOperationError(
      `docker port names no address for port ${port}: ${JSON.stringify(printed)}`,
    );
  const host = written.replace(/^\[|\]$/g, "");
  // An address that means "all" is none to connect to.
  const reachable = ["", "0.0.0.0", "::"].includes(host) ? publishHost : host;
  return `http://${bracketed(reachable)}:${hostPort}`;
}
