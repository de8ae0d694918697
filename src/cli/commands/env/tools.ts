import { defineCommand } from "../../command.ts";
import { jsonFlag, searchDirFlag } from "../../flags.ts";

export const envTools = defineCommand({
  description:
    "List the tools of an environment as a request offers them to the model: names, descriptions and the JSON Schema of their arguments. Rows without 'tools' get these.",
  flags: {
    ...jsonFlag,
    ...searchDirFlag,
    server: { kind: "text", metavar: "INSTANCE", help: "the resources server, where the config has several" },
  },
  positionals: {
    NAME: {
      completes: ["resources_servers", "environments", "benchmarks"],
      help: "a resources server, an environment, a benchmark, or a config file",
    },
  },
  examples: ["gym env tools workplace_assistant", "gym env tools my_quiz --json"],
  run: async (context) =>
    (await import("../../env/describe.ts")).showTools(
      context,
      context.positionals.NAME,
      context.flags.server,
    ),
});
