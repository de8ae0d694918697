import { defineCommand } from "../../command.ts";
import { renderKeys } from "../../dataset/keys.ts";
import { jsonFlag, searchDirFlag } from "../../flags.ts";

export const datasetRender = defineCommand({
  description:
    "Fill the templates of a prompt config with the fields of every row. Each row gets the messages as " +
    "responses_create_params.input and the path of the config as prompt_config_used.",
  flags: {
    input: {
      kind: "text",
      short: "i",
      key: "input_jsonl_fpath",
      metavar: "FILE",
      completes: "file",
      help: "file with the raw rows",
    },
    "prompt-config": {
      kind: "text",
      key: "prompt_config",
      metavar: "FILE",
      completes: "file",
      help: "YAML file with the templates",
    },
    output: {
      kind: "text",
      short: "o",
      key: "output_jsonl_fpath",
      metavar: "FILE",
      help: "where the filled rows go",
    },
    ...searchDirFlag,
    ...jsonFlag,
  },
  keys: renderKeys,
  examples: ["gym dataset render -i raw.jsonl --prompt-config prompts/quiz.yaml -o data/quiz.jsonl"],
  resolve: { noModel: true, offline: true },
  run: async (context) => (await import("../../dataset/render.ts")).renderRows(context, context.flags.json),
});
