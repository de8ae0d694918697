import { defineCommand } from "../../command.ts";
import { keyFlags } from "../../config-keys.ts";
import { removeKeys } from "../../dataset/keys.ts";

export const datasetRm = defineCommand({
  description: "Delete a dataset with all its versions from the GitLab registry, after asking.",
  flags: {
    ...keyFlags(removeKeys),
    yes: { kind: "switch", short: "y", help: "do not ask" },
  },
  keys: removeKeys,
  examples: ["gym dataset rm --name mcqa", "gym dataset rm --name mcqa --yes"],
  resolve: { noModel: true, offline: true },
  run: async (context) => (await import("../../dataset/remove.ts")).removeDataset(context, context.flags),
});
