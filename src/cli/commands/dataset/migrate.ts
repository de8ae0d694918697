import { defineCommand } from "../../command.ts";
import { hubUploadKeys } from "../../dataset/keys.ts";
import { jsonFlag } from "../../flags.ts";

const { delete_from_gitlab: _, ...migrateKeys } = hubUploadKeys;

export const datasetMigrate = defineCommand({
  description:
    "Upload a file to Hugging Face, then delete the dataset from the GitLab registry, after asking.",
  flags: {
    input: {
      kind: "text",
      short: "i",
      key: "input_jsonl_fpath",
      metavar: "FILE",
      completes: "file",
      help: "the file to upload",
    },
    name: { kind: "text", key: "dataset_name", metavar: "NAME", help: "name of the dataset" },
    revision: { kind: "text", key: "revision", metavar: "BRANCH", help: "branch on Hugging Face" },
    split: {
      kind: "text",
      key: "split",
      choices: ["train", "validation", "test"],
      help: "what the file holds",
    },
    "create-pr": { kind: "switch", key: "create_pr", help: "propose the change as a pull request" },
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
