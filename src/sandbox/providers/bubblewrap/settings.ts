import { z } from "zod";
import { execSettings } from "../../provider-settings.ts";
import type { SandboxSpec } from "../../spec.ts";

const MIB = 1024 * 1024;

/** Settings of `sandbox: {bubblewrap: …}`. The `resources` of a spec take precedence over `limits`. */
export const bubblewrapSettings = z.strictObject({
  exec: z.strictObject(execSettings).prefault({}),
  limits: z
    .strictObject({
      /** Cores the sandbox may run on; a fraction is rounded up. */
      cpu: z.number().positive().default(1),
      /** For all processes of a command together. */
      memory_mib: z.number().int().positive().default(512),
      /** For all files of the sandbox together, which are kept in memory. */
      disk_mib: z.number().int().positive().default(256),
      /** Number of files and directories in the sandbox. */
      files: z.number().int().positive().default(65_536),
      /** Per command. */
      processes: z.number().int().positive().default(64),
      open_files: z.number().int().positive().default(1024),
    })
    .prefault({}),
  /**
   * Control groups (version 2) for hard limits: `auto` uses them if this user may create groups, `none` never does. A
   * directory of the hierarchy must be usable.
   */
  cgroup: z
    .union([
      z.enum(["auto", "none"]),
      z.string().startsWith("/", "Must be 'auto', 'none' or an absolute path"),
    ])
    .default("auto"),
  /** `none`: the sandbox has only its own loopback interface; `host`: the network of this machine. */
  network: z.enum(["none", "host"]).default("none"),
  /** Further files and directories of this machine that commands may read, at the same paths. */
  read_only_paths: z
    .array(
      z
        .string()
        .startsWith("/", "Must be an absolute path")
        .refine((text) => !text.includes("\0"), { message: "Must not have a zero byte" }),
    )
    .default([]),
});
export type BubblewrapSettings = z.output<typeof bubblewrapSettings>;

export type BubblewrapLimits = ReturnType<typeof limitsOf>;

/** The limits of a sandbox: those of its spec, then those of the settings. */
export function limitsOf({ resources }: SandboxSpec, { limits }: BubblewrapSettings) {
  return {
    cpu: resources.cpu ?? limits.cpu,
    memoryBytes: (resources.memory_mib ?? limits.memory_mib) * MIB,
    diskBytes: (resources.disk_gib === undefined ? limits.disk_mib : resources.disk_gib * 1024) * MIB,
    files: limits.files,
    processes: limits.processes,
    openFiles: limits.open_files,
  };
}
