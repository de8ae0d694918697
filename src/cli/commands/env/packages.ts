import { defineCommand } from "../../command.ts";
import type { KeyTable } from "../../config-keys.ts";
import { searchDirFlag, serverFolderFlag } from "../../flags.ts";

const keys = {
  entrypoint: { type: "str", required: true, help: "the server, such as resources_servers/mcqa" },
  format: { type: "str", choices: ["columns", "freeze", "json"], help: "how to print the list" },
  outdated: { type: "bool", default: false, help: "only packages with a newer version" },
} as const satisfies KeyTable;

export const envPackages = defineCommand({
  description:
    "List the packages a server can use: those of its own node_modules or virtual environment, or of the project it " +
    "lies in when it brings none.",
  flags: {
    ...serverFolderFlag,
    ...searchDirFlag,
    outdated: { kind: "switch", key: "outdated", help: "only packages with a newer version" },
    json: { kind: "switch", key: "format", sets: "json", help: "print JSON" },
  },
  keys,
  examples: ["gym env packages --resources-server mcqa", "gym env packages --resources-server mcqa --json"],
  resolve: { noModel: true, offline: true },
  run: async (context) => (await import("../../env/packages.ts")).listPackages(context, keys),
});
