import { defineCommand } from "../../command.ts";
import { keyFlags } from "../../config-keys.ts";
import { hubUploadKeys, registryUploadKeys } from "../../dataset/keys.ts";
import { jsonFlag } from "../../flags.ts";

export const datasetUpload = defineCommand({
  description:
    "Upload a file. To Hugging Face: into the private repository <organization>/<prefix>-<domain>-<name>, which is made if need be " +
    "and put into the collection. To GitLab: into a version of the model registry. Keys come from env.yaml.",
  flags: {
    storage: { kind: "text", choices: ["hf", "gitlab"], default: "hf", help: "where to" },
    ...keyFlags(registryUploadKeys),
    ...keyFlags(hubUploadKeys),
    revision: {
      kind: "text",
      key: ["version", "revision"],
      metavar: "REVISION",
      help: "branch on Hugging Face, version (x.x.x) in the registry",
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
