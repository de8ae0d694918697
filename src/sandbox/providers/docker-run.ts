import { isIP } from "node:net";
import { z } from "zod";
import { SandboxOperationError } from "../errors.ts";
import { execSettings, optionalSeconds, probeSettings, textList } from "../provider-settings.ts";
import type { SandboxSpec } from "../spec.ts";
import { textsOption } from "./cli-provider.ts";

export const SANDBOX_LABEL = "nemo-gym.sandbox";
/** Programs with the same command line, in the order of preference. */
export const ENGINES = ["docker", "podman"] as const;
const KEEP_ALIVE = "while :; do sleep 2147483647; done";

/** Settings of `sandbox: {docker: …}`. */
export const dockerSettings = z.strictObject({
  /** The program of the engine; null: `docker` if it is installed, otherwise `podman`. */
  program: z.enum(ENGINES).nullable().default(null),
  create: z
    .strictObject({
      keepalive_shell: z.string().default("/bin/sh"),
      keepalive_cmd: z.string().default(KEEP_ALIVE),
      start_timeout_s: optionalSeconds(600),
      /** Containers started at a time. Engines become slow and fail above about 32. */
      max_creates: z.number().int().min(1).default(16),
      /** Images pulled at a time. Registries limit the number of pulls. */
      max_pulls: z.number().int().min(1).default(4),
      pull_timeout_s: optionalSeconds(3600),
      use_init: z.boolean().default(true),
      /** Absent: no network, unless the spec has ports; null: the default of docker; otherwise the name of a network. */
      network: z.string().nullable().optional(),
      read_only: z.boolean().default(false),
      cap_drop: textList,
      security_opt: textList,
      pids_limit: z.number().int().positive().nullable().default(1024),
      /** For specs without this limit; null: no limit. */
      default_cpu: z.number().positive().nullable().default(2),
      default_memory_mib: z.number().int().positive().nullable().default(4096),
      extra_run_args: textList,
      apply_resource_limits: z.boolean().default(true),
      publish_host: z
        .string()
        .refine((host) => isIP(host) !== 0, { message: "Must be an IPv4 or IPv6 address" })
        .default("127.0.0.1"),
    })
    .prefault({}),
  exec: z
    .strictObject({
      ...execSettings,
      extra_exec_args: textList,
      /** Null: bash if the image has it, otherwise sh. */
      exec_shell: z.string().min(1).nullable().default(null),
    })
    .prefault({}),
  probe: probeSettings("docker-sandbox-ready"),
});
export type DockerSettings = z.output<typeof dockerSettings>;
type CreateSettings = DockerSettings["create"];

/** The arguments of `docker` that start a container which waits for commands. */
export function runArguments(
  spec: SandboxSpec,
  image: string,
  name: string,
  create: CreateSettings,
): string[] {
  const flags = (flag: string, values: readonly string[]) => values.flatMap((value) => [flag, value]);
  // A container with a time to live removes itself when its only process ends.
  const expires = spec.ttl_s !== undefined && spec.entrypoint === undefined;
  return [
    ...["run", "-d", "--name", name, "--label", `${SANDBOX_LABEL}=1`],
    ...flags("--label", assignments(spec.metadata)),
    ...(create.use_init ? ["--init"] : []),
    ...(spec.workdir === undefined ? [] : ["-w", spec.workdir]),
    ...flags("--env", assignments(spec.env)),
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

function assignments(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).map(([key, value]) => `${key}=${value}`);
}

function commandWords(spec: SandboxSpec, image: string, create: CreateSettings): string[] {
  const [program, ...rest] = spec.entrypoint ?? [];
  if (program !== undefined) return ["--entrypoint", program, image, ...rest];
  const wait =
    spec.ttl_s === undefined ? create.keepalive_cmd : `sleep ${Math.max(1, Math.ceil(spec.ttl_s))}`;
  return ["--entrypoint", create.keepalive_shell, image, "-c", wait];
}

function limitArguments({ resources }: SandboxSpec, create: CreateSettings): string[] {
  const cpu = resources.cpu ?? create.default_cpu;
  const memory = resources.memory_mib ?? create.default_memory_mib;
  return [
    ...(cpu === null ? [] : ["--cpus", String(cpu)]),
    // `--memory-swap` includes the memory, so equal values mean no swap.
    ...(memory === null ? [] : ["--memory", `${memory}m`, "--memory-swap", `${memory}m`]),
  ];
}

function networkArguments({ ports }: SandboxSpec, { network }: CreateSettings): string[] {
  if (network === null) return [];
  if (network !== undefined) return ["--network", network];
  return ports.length > 0 ? [] : ["--network", "none"];
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** The URL for the output of `docker port`, which has one `host:port` per line. The loopback address is preferred. */
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
  // A client cannot connect to an address that means "all addresses".
  const reachable = ["", "0.0.0.0", "::"].includes(host) ? publishHost : host;
  return `http://${bracketed(reachable)}:${hostPort}`;
}
