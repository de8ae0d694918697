import { defineCommand } from "../../command.ts";
import { searchDirFlag } from "../../flags.ts";

export const datasetHead = defineCommand({
  description:
    "Show rows of a JSON lines file readably: messages, tools, parameters, then the other fields. Also for rollouts. Long texts are cut.",
  flags: {
    rows: { kind: "text", short: "n", metavar: "N", default: "5", help: "how many rows" },
    skip: { kind: "text", metavar: "N", default: "0", help: "how many rows to leave out before" },
    full: { kind: "switch", help: "do not cut long texts" },
    json: { kind: "switch", help: "print the rows as JSON, one per line" },
    ...searchDirFlag,
  },
  positionals: { FILE: { completes: "file", help: "a JSON lines file" } },
  examples: ["gym dataset head data/train.jsonl", "gym dataset head results/rollouts.jsonl -n 1 --full"],
  run: async (context) =>
    (await import("../../dataset/head.ts")).showRows(context, context.positionals.FILE, context.flags),
});
