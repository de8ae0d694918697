import { defineCommand } from "../../command.ts";
import { jsonFlag } from "../../flags.ts";

export const sandboxGc = defineCommand({
  description:
    "Remove the sandboxes that runs left behind: those whose process is gone. Sandboxes in use, and those that other machines " +
    "made, stay.",
  flags: {
    "dry-run": { kind: "switch", help: "say what would be removed, and remove nothing" },
    ...jsonFlag,
  },
  examples: ["gym sandbox gc --dry-run", "gym sandbox gc"],
  run: async (context) =>
    (await import("../../sandbox/list.ts")).removeLeftSandboxes(context, context.flags["dry-run"]),
});
