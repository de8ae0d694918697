import { z } from "zod";
import { execSettings, optionalSeconds, probeSettings, seconds, textList } from "../../provider-settings.ts";

const READY = "enroot-sandbox-ready";

/** Settings of `sandbox: {enroot: …}`. */
export const enrootSettings = z.strictObject({
  create: z
    .strictObject({
      /** Where the sandbox's own writable directory appears. */
      mount_point: z.string().startsWith("/", "Must be an absolute path").default("/sandbox"),
      /** Holds what follows where that is not set; below the directory for temporary files when absent. */
      base_dir: z.string().nullish(),
      data_path: z.string().nullish(),
      cache_path: z.string().nullish(),
      runtime_path: z.string().nullish(),
      sqsh_cache_dir: z.string().nullish(),
      rw: z.boolean().default(true),
      remap_root: z.boolean().default(false),
      /** Starts without the image's entrypoint, which may be no shell. */
      bypass_entrypoint: z.boolean().default(true),
      init_command: z.string().default("while true; do sleep 86400; done"),
      import_timeout_s: optionalSeconds(1800),
      create_timeout_s: optionalSeconds(600),
      start_timeout_s: seconds.default(600),
      start_poll_s: seconds.default(0.5),
      extra_import_args: textList,
      extra_create_args: textList,
      extra_start_args: textList,
    })
    .prefault({}),
  exec: z
    .strictObject({
      ...execSettings,
      default_mounts: textList,
      extra_exec_args: textList,
      exec_shell: z.string().min(1).default("sh"),
    })
    .prefault({}),
  probe: probeSettings(`printf ${READY}`, READY),
});
export type EnrootSettings = z.output<typeof enrootSettings>;
