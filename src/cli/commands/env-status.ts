import { defineCommand } from "../command.ts";
import { jsonFlag } from "../flags.ts";

export const envStatus = defineCommand({
  group: "env",
  name: "status",
  summary: "show the running servers and their health",
  description: "Ask the head server which servers run, and each of them whether it answers.",
  flags: { ...jsonFlag },
  examples: ["gym env status", "gym env status --json"],
  legacy: [{ name: "status" }],
  resolve: { noModel: true, offline: true },
  run: async (context) => (await import("../env/status.ts")).showStatus(context),
});
