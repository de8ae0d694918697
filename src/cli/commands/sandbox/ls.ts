import { defineCommand } from "../../command.ts";
import { jsonFlag } from "../../flags.ts";

export const sandboxLs = defineCommand({
  description:
    "List the sandboxes of this machine, and whether the process that made each still runs. " +
    "Sandboxes of services (daytona, opensandbox) are not listed.",
  flags: { ...jsonFlag },
  examples: ["gym sandbox ls", "gym sandbox ls --json"],
  run: async (context) => (await import("../../sandbox/list.ts")).listSandboxes(context),
});
