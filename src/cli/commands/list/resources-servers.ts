import { defineCommand } from "../../command.ts";
import { jsonFlag, searchDirFlag } from "../../flags.ts";

export const listResourcesServers = defineCommand({
  description: "List the resources servers one may give to --resources-server.",
  flags: { ...jsonFlag, ...searchDirFlag },
  positionals: {
    NAME: {
      optional: true,
      key: "component_name",
      completes: ["resources_servers"],
      help: "the resources server to show",
    },
  },
  examples: ["gym list resources-servers mcqa", "gym list resources-servers --json"],
  run: async (context) => (await import("../../catalog/list-components.ts")).listResourcesServers(context),
});
