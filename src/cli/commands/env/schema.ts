import { defineCommand } from "../../command.ts";
import { searchDirFlag } from "../../flags.ts";

export const envSchema = defineCommand({
  description:
    "Print the JSON Schema of the rows of an environment: the request for the model and the fields that session and verifier read. Rows are checked against it before the first model call.",
  flags: {
    ...searchDirFlag,
    server: { kind: "text", metavar: "INSTANCE", help: "the resources server, where the config has several" },
  },
  positionals: {
    NAME: {
      completes: ["resources_servers", "environments", "benchmarks"],
      help: "a resources server, an environment, a benchmark, or a config file",
    },
  },
  examples: ["gym env schema mcqa", "gym env schema my_quiz > row.schema.json"],
  run: async (context) =>
    (await import("../../env/describe.ts")).showRowSchema(
      context,
      context.positionals.NAME,
      context.flags.server,
    ),
});
