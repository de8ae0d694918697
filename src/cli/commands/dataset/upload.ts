import { defineCommand } from "../../command.ts";
import { hubUploadKeys, registryUploadKeys } from "../../dataset/keys.ts";
import { jsonFlag } from "../../flags.ts";

export const datasetUpload = defineCommand({
  description:
    "Upload a file. To Hugging Face: into the private repository <organization>/<prefix>-<domain>-<name>, which is made if need be " +
    "and put into the collection. To GitLab: into a version of the model registry. Keys come from env.yaml.",
  flags: {
    storage: { kind: "text", choices: ["hf", "gitlab"], default: "hf", help: "where to" },
    input: {
      kind: "text",
      short: "i",
      key: "input_jsonl_fpath",
      metavar: "FILE",
      completes: "file",
      help: "the file to upload",
    },
    name: { kind: "text", key: "dataset_name", metavar: "NAME", help: "name of the dataset" },
    revision: {
      kind: "text",
      key: ["version", "revision"],
      metavar: "REVISION",
      help: "branch on Hugging Face, version (x.x.x) in the registry",
    },
    split: {
      kind: "text",
      key: "split",
      choices: ["train", "validation", "test"],
      help: "what the file holds",
    },
    "create-pr": { kind: "switch", key: "create_pr", help: "propose the change as a pull request" },
    overwrite: {
      kind: "switch",
      key: "overwrite",
      help: "replace a file the registry's version already holds",
    },
    yes: { kind: "switch", short: "y", help: "do not ask before a deletion (delete_from_gitlab)" },
    ...jsonFlag,
  },
  keysFor: ({ storage }) => (storage === "gitlab" ? registryUploadKeys : hubUploadKeys),
  examples: [
    "gym dataset upload -i data/train.jsonl +resource_config_path=resources_servers/mcqa/configs/mcqa.yaml",
    "gym dataset upload --storage gitlab -i data/train.jsonl --name mcqa --revision 0.0.1",
  ],
  resolve: { noModel: true, offline: true },
  async run(context) {
    const { uploadToGitlab, uploadToHuggingFace } = await import("../../dataset/upload.ts");
    const { storage, yes, json } = context.flags;
    if (storage === "gitlab") return uploadToGitlab(context, { json });
    return uploadToHuggingFace(context, { json, yes });
  },
});
