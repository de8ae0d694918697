import { isIP } from "node:net";
import { z } from "zod";
import { execSettings, optionalSeconds, probeSettings, textList } from "../../provider-settings.ts";

const KEEP_ALIVE = "while :; do sleep 2147483647; done";

/** Settings of `sandbox: {docker: …}`. */
export const dockerSettings = z.strictObject({
  /** The engine's program; null: `docker` where it is installed, else `podman`. */
  program: z.enum(["docker", "podman"]).nullable().default(null),
  create: z
    .strictObject({
      keepalive_shell: z.string().default("/bin/sh"),
      keepalive_cmd: z.string().default(KEEP_ALIVE),
      start_timeout_s: optionalSeconds(600),
      /** Containers that are started at a time; engines become slow and fail above about 32. */
      max_creates: z.number().int().min(1).default(16),
      /** Images that are fetched at a time; registries limit how many they give. */
      max_pulls: z.number().int().min(1).default(4),
      pull_timeout_s: optionalSeconds(3600),
      use_init: z.boolean().default(true),
      /** Absent: no network, unless the spec has ports; null: docker's own default; else a network by name. */
      network: z.string().nullable().optional(),
      read_only: z.boolean().default(false),
      cap_drop: textList,
      security_opt: textList,
      pids_limit: z.number().int().positive().nullable().default(1024),
      /** For specs that give none; null: no limit. */
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
      /** Null: bash where the image has it, else sh. */
      exec_shell: z.string().min(1).nullable().default(null),
    })
    .prefault({}),
  probe: probeSettings("printf docker-sandbox-ready", "docker-sandbox-ready"),
});
export type DockerSettings = z.output<typeof dockerSettings>;
