import { z } from "zod";
import { execSettings } from "../../provider-settings.ts";

/** Settings of `sandbox: {bubblewrap: …}`; a spec's `resources` win over `limits`. */
export const bubblewrapSettings = z.strictObject({
  exec: z.strictObject(execSettings).prefault({}),
  limits: z
    .strictObject({
      /** Cores the sandbox may run on; a part of a core counts as a whole one. */
      cpu: z.number().positive().default(1),
      /** For all processes of one command together. */
      memory_mib: z.number().int().positive().default(512),
      /** What the sandbox may write in all; it is held in memory. */
      disk_mib: z.number().int().positive().default(256),
      /** How many files and directories the sandbox may make. */
      files: z.number().int().positive().default(65_536),
      /** Of one command. */
      processes: z.number().int().positive().default(64),
      open_files: z.number().int().positive().default(1024),
    })
    .prefault({}),
  /**
   * Control groups (version 2) for hard limits: `auto` uses them where this user may make some, `none` never; a directory of the
   * hierarchy must be usable.
   */
  cgroup: z
    .union([
      z.enum(["auto", "none"]),
      z.string().startsWith("/", "Must be 'auto', 'none' or an absolute path"),
    ])
    .default("auto"),
  /** `none` leaves the sandbox its own loopback and nothing else; `host` is the network of this machine. */
  network: z.enum(["none", "host"]).default("none"),
  /** Further files and directories of this machine that commands may read, at their own paths. */
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

export interface BubblewrapLimits {
  cpu: number;
  memoryBytes: number;
  diskBytes: number;
  files: number;
  processes: number;
  openFiles: number;
}
