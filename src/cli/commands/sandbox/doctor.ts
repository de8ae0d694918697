import { defineCommand } from "../../command.ts";
import { jsonFlag } from "../../flags.ts";

export const sandboxDoctor = defineCommand({
  description:
    "Try every sandbox provider on this machine: which of them work, in what version, and why the others do not. " +
    "The exit code is 1 when none works.",
  flags: { ...jsonFlag },
  examples: ["gym sandbox doctor", "gym sandbox doctor --json"],
  run: async (context) => (await import("../../sandbox/doctor.ts")).runDoctor(context),
});
