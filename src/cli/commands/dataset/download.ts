import { defineCommand } from "../../command.ts";
import { hubDownloadKeys, registryDownloadKeys } from "../../dataset/keys.ts";
import { jsonFlag } from "../../flags.ts";

export const datasetDownload = defineCommand({
  description:
    "Download one file of a repository (--artifact), one split (--split) or all splits as JSON lines. A download that broke off is " +
    "continued, and compared with the checksum the other side gives.",
  flags: {
    storage: { kind: "text", choices: ["hf", "gitlab"], default: "hf", help: "where from" },
    "repo-id": { kind: "text", key: "repo_id", metavar: "OWNER/NAME", help: "repository on Hugging Face" },
    name: { kind: "text", key: "dataset_name", metavar: "NAME", help: "name of the dataset in the registry" },
    revision: {
      kind: "text",
      key: "version",
      metavar: "REVISION",
      help: "version in the registry, branch on the hub",
    },
    artifact: { kind: "text", key: "artifact_fpath", metavar: "PATH", help: "the file to fetch as it is" },
    output: { kind: "text", short: "o", key: "output_fpath", metavar: "FILE", help: "where the file goes" },
    "output-dir": {
      kind: "text",
      key: "output_dirpath",
      metavar: "DIR",
      completes: "directory",
      help: "where files go under their own names",
    },
    split: {
      kind: "text",
      key: "split",
      choices: ["train", "validation", "test"],
      help: "fetch this split only",
    },
    ...jsonFlag,
  },
  keysFor: ({ storage }) => (storage === "gitlab" ? registryDownloadKeys : hubDownloadKeys),
  examples: [
    "gym dataset download --repo-id nvidia/Nemotron-RL-math --split train -o data/train.jsonl",
    "gym dataset download --storage gitlab --name mcqa --revision 0.0.1 --artifact train.jsonl -o data/train.jsonl",
  ],
  resolve: { noModel: true, offline: true },
  async run(context) {
    const { downloadFromGitlab, downloadFromHuggingFace } = await import("../../dataset/download.ts");
    const { storage, json } = context.flags;
    return storage === "gitlab" ? downloadFromGitlab(context, json) : downloadFromHuggingFace(context, json);
  },
});
