import { defineCommand } from "../../command.ts";
import { searchDirFlag } from "../../flags.ts";

export const datasetStats = defineCommand({
  description:
    "Validate the rows of a JSON lines file and show the statistics of its metrics file, and beyond them: distinct parameters and user " +
    "messages, sampling parameters, input length in tokens. Nothing is written.",
  flags: {
    tokens: { kind: "switch", help: "count the input length in tokens of OpenAI models (slower)" },
    strict: { kind: "switch", help: "exit with 1 when any row is invalid" },
    json: { kind: "switch", help: "print JSON" },
    ...searchDirFlag,
  },
  positionals: { FILE: { completes: "file", help: "a JSON lines file" } },
  examples: ["gym dataset stats data/train.jsonl", "gym dataset stats data/train.jsonl --tokens --json"],
  run: async (context) =>
    (await import("../../dataset/stats.ts")).showStatistics(context, context.positionals.FILE, context.flags),
});
