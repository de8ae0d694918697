import { defineCommand } from "../../command.ts";
import { keyFlags } from "../../config-keys.ts";
import { hubUploadKeys } from "../../dataset/keys.ts";
import { jsonFlag } from "../../flags.ts";

const { delete_from_gitlab: _, ...migrateKeys } = hubUploadKeys;

export const datasetMigrate = defineCommand({
  description:
    "Upload a file to Hugging Face, then delete the dataset from the GitLab registry, after asking.",
  flags: {
    ...keyFlags(migrateKeys),
    yes: { kind: "switch", short: "y", help: "delete without asking" },
    ...jsonFlag,
  },
  keys: migrateKeys,
  examples: [
    "gym dataset migrate -i data/train.jsonl +resource_config_path=resources_servers/mcqa/configs/mcqa.yaml",
  ],
  resolve: { noModel: true, offline: true },
  run: async (context) => (await import("../../dataset/upload.ts")).migrate(context, context.flags),
});
