import { defineCommand } from "../../command.ts";
import { keyFlags } from "../../config-keys.ts";
import { renderKeys } from "../../dataset/keys.ts";
import { jsonFlag, searchDirFlag } from "../../flags.ts";

export const datasetRender = defineCommand({
  description:
    "Fill the templates of a prompt config with the fields of every row. Each row gets the messages as " +
    "responses_create_params.input and the path of the config as prompt_config_used.",
  flags: {
    ...keyFlags(renderKeys),
    ...searchDirFlag,
    ...jsonFlag,
  },
  keys: renderKeys,
  examples: ["gym dataset render -i raw.jsonl --prompt-config prompts/quiz.yaml -o data/quiz.jsonl"],
  resolve: { noModel: true, offline: true },
  run: async (context) => (await import("../../dataset/render.ts")).renderRows(context, context.flags.json),
});
