import { defineCommand } from "../../command.ts";
import { jsonFlag, searchDirFlag, workloadKindFlag, workloadName } from "../../flags.ts";

export const envPublish = defineCommand({
  description:
    "Check that an environment or benchmark is ready for others: its manifest fits its config and its data, its verifier does " +
    "what its cases say, no text of the manifest is left to write, and the catalog shows it. Everything that is left to do is " +
    "listed. Nothing is uploaded or committed: the manifest is the entry of the catalog.",
  flags: { ...workloadKindFlag, ...jsonFlag, ...searchDirFlag },
  positionals: workloadName,
  examples: ["gym env publish my_quiz", "gym env publish gsm8k --kind benchmark --json"],
  resolve: { noModel: true, offline: true },
  run: async (context) => (await import("../../env/publish.ts")).publish(context),
});
