import { defineCommand } from "../../command.ts";
import { jsonFlag } from "../../flags.ts";

export const envStatus = defineCommand({
  description:
    "Ask the head server which servers run, and each of them whether it answers. " +
    "No head server is an empty list; one that is there and does not answer is an error.",
  flags: { ...jsonFlag },
  examples: ["gym env status", "gym env status --json"],
  resolve: { noModel: true, offline: true },
  run: async (context) => (await import("../../env/status.ts")).showStatus(context),
});
