import { defineCommand } from "../../command.ts";
import { jsonFlag, searchDirFlag } from "../../flags.ts";

export const listModels = defineCommand({
  description: "List the model servers one may give to --model-type.",
  flags: { ...jsonFlag, ...searchDirFlag },
  positionals: {
    NAME: {
      optional: true,
      key: "component_name",
      completes: ["responses_api_models"],
      help: "the model to show",
    },
  },
  examples: ["gym list models", "gym list models --json"],
  run: async (context) => (await import("../../catalog/list-components.ts")).listModels(context),
});
