import { z } from "zod";
import { execSettings, optionalSeconds, probeSettings, textList } from "../../provider-settings.ts";

/** Settings of `sandbox: {apptainer: …}`. */
export const apptainerSettings = z.strictObject({
  /** The directory of the program, when it is not on the PATH. */
  bin_path: z.string().nullish(),
  create: z
    .strictObject({
      /** Where the sandbox's own writable directory appears. */
      mount_point: z.string().startsWith("/", "Must be an absolute path").default("/sandbox"),
      start_timeout_s: optionalSeconds(600),
      /** Keeps home, temporary files, processes and variables of the host outside. */
      contain: z.boolean().default(true),
      /** `none`: no network; null: the host's. */
      network: z.literal("none").nullable().default("none"),
      extra_start_args: textList,
      apply_resource_limits: z.boolean().default(true),
      private_tmp: z.boolean().default(false),
    })
    .prefault({}),
  exec: z
    .strictObject({
      ...execSettings,
      /** Accepted for configs of the original; commands are ended at once here. */
      timeout_grace_s: z.number().nonnegative().optional(),
      fakeroot_for_root: z.boolean().default(true),
      default_binds: textList,
      extra_exec_args: textList,
    })
    .prefault({}),
  probe: probeSettings("printf apptainer-sandbox-ready", "apptainer-sandbox-ready"),
});
export type ApptainerSettings = z.output<typeof apptainerSettings>;
