import { defineCommand } from "../../command.ts";
import { keyFlags } from "../../config-keys.ts";
import { hubDownloadKeys, registryDownloadKeys } from "../../dataset/keys.ts";
import { jsonFlag } from "../../flags.ts";

export const datasetDownload = defineCommand({
  description:
    "Download one file of a repository (--artifact), one split (--split) or all splits as JSON lines. A download that broke off is " +
    "continued, and compared with the checksum the other side gives.",
  flags: {
    storage: { kind: "text", choices: ["hf", "gitlab"], default: "hf", help: "where from" },
    ...keyFlags(registryDownloadKeys),
    ...keyFlags(hubDownloadKeys),
    revision: {
      kind: "text",
      key: "version",
      metavar: "REVISION",
      help: "version in the registry, branch on the hub",
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
