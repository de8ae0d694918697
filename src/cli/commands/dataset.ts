import { FORMATS } from "../../data/convert/format-names.ts";
import { defineCommand } from "../command.ts";
import { keyFlags } from "../config-keys.ts";
import {
  collateKeys,
  hubDownloadKeys,
  hubKeys,
  hubUploadKeys,
  registryDownloadKeys,
  registryUploadKeys,
  removeKeys,
  renderKeys,
  selectKeys,
} from "../dataset/keys.ts";
import { configFlags, jsonFlag, numberFlag, searchDirFlag, textFlag } from "../flags.ts";

const { delete_from_gitlab: _, ...migrateKeys } = hubUploadKeys;

export const datasetCommands = [
  defineCommand({
    words: "dataset upload",
    summary: "upload a dataset to Hugging Face or to the GitLab registry",
    legacy: ["upload_dataset_to_hf", "upload_dataset_to_gitlab --storage gitlab"],
    description:
      "Upload a file. To Hugging Face: into the private repository <organization>/<prefix>-<domain>-<name>, which is created if needed " +
      "and added to the collection. To GitLab: into a version of the model registry. Keys come from env.yaml.",
    flags: {
      storage: { kind: "text", choices: ["hf", "gitlab"], default: "hf", help: "target storage" },
      ...keyFlags(registryUploadKeys),
      ...keyFlags(hubUploadKeys),
      revision: {
        kind: "text",
        key: ["version", "revision"],
        metavar: "REVISION",
        help: "branch on Hugging Face, version (x.x.x) in the registry",
      },
      yes: { kind: "switch", short: "y", help: "do not ask before a deletion (delete_from_gitlab)" },
      ...jsonFlag,
    },
    keysFor: ({ storage }) => (storage === "gitlab" ? registryUploadKeys : hubUploadKeys),
    examples: [
      "gym dataset upload -i data/train.jsonl +resource_config_path=resources_servers/mcqa/configs/mcqa.yaml",
      "gym dataset upload --storage gitlab -i data/train.jsonl --name mcqa --revision 0.0.1",
    ],
    resolve: { noModel: true, offline: true },
    async run(context) {
      const { uploadToGitlab, uploadToHuggingFace } = await import("../dataset/upload.ts");
      const { storage, yes } = context.flags;
      return storage === "gitlab" ? uploadToGitlab(context) : uploadToHuggingFace(context, yes);
    },
  }),
  defineCommand({
    words: "dataset download",
    summary: "download a dataset from Hugging Face or from the GitLab registry",
    legacy: ["download_dataset_from_hf", "download_dataset_from_gitlab --storage gitlab"],
    description:
      "Download one file of a repository (--artifact), one split (--split) or all splits as JSON lines. An interrupted download is " +
      "continued and compared with the checksum of the server.",
    flags: {
      storage: { kind: "text", choices: ["hf", "gitlab"], default: "hf", help: "source storage" },
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
      const { downloadFromGitlab, downloadFromHuggingFace } = await import("../dataset/download.ts");
      const download = context.flags.storage === "gitlab" ? downloadFromGitlab : downloadFromHuggingFace;
      return download(context);
    },
  }),
  defineCommand({
    words: "dataset rm",
    summary: "delete a dataset from the GitLab registry",
    legacy: ["delete_dataset_from_gitlab"],
    description: "Delete a dataset with all its versions from the GitLab registry, after asking.",
    flags: {
      ...keyFlags(removeKeys),
      yes: { kind: "switch", short: "y", help: "do not ask" },
    },
    keys: removeKeys,
    examples: ["gym dataset rm --name mcqa", "gym dataset rm --name mcqa --yes"],
    resolve: { noModel: true, offline: true },
    run: async (context) => (await import("../dataset/remove.ts")).removeDataset(context, context.flags.yes),
  }),
  defineCommand({
    words: "dataset migrate",
    summary: "move a dataset from the GitLab registry to Hugging Face",
    legacy: ["gitlab_to_hf_dataset"],
    description:
      "Upload a file to Hugging Face, then delete the dataset from the GitLab registry, after asking.",
    flags: {
      ...keyFlags(migrateKeys),
      yes: { kind: "switch", short: "y", help: "delete without asking" },
      ...jsonFlag,
    },
    keys: migrateKeys,
    examples: [
      "gym dataset migrate -i data/train.jsonl +resource_config_path=resources_servers/mcqa/configs/mcqa.yaml",
    ],
    resolve: { noModel: true, offline: true },
    run: async (context) => (await import("../dataset/upload.ts")).migrate(context, context.flags.yes),
  }),
  defineCommand({
    words: "dataset render",
    summary: "fill a prompt template with the fields of every row",
    legacy: ["materialize_prompts"],
    description:
      "Fill the templates of a prompt config with the fields of every row. Each row gets the messages as " +
      "responses_create_params.input and the path of the config as prompt_config_used.",
    flags: { ...keyFlags(renderKeys), ...searchDirFlag, ...jsonFlag },
    keys: renderKeys,
    examples: ["gym dataset render -i raw.jsonl --prompt-config prompts/quiz.yaml -o data/quiz.jsonl"],
    resolve: { noModel: true, offline: true },
    run: async (context) => (await import("../dataset/render.ts")).renderRows(context),
  }),
  defineCommand({
    words: "dataset convert",
    summary: "turn a file or a dataset on the hub into rows",
    description:
      "Turn data in usual formats into rows: chat messages, ShareGPT conversations, questions or prompts with answers, multiple-choice questions, instructions, preference pairs, and tasks of lm-evaluation-harness. " +
      "The format is detected. Without --output the first rows are shown. Rows that do not fit are left out and listed with their line and the reason. `gym eval run -i` reads the same sources.",
    flags: {
      input: {
        kind: "text",
        short: "i",
        metavar: "FILE",
        completes: "file",
        required: true,
        help: "a .jsonl, .json, .csv, .tsv or .parquet file, hub:OWNER/NAME@SPLIT, or the .yaml of an lm-eval task",
      },
      output: {
        kind: "text",
        short: "o",
        metavar: "FILE",
        completes: "file",
        help: "where the rows go; without it, the first rows are shown",
      },
      format: { kind: "text", choices: FORMATS, help: "of the rows; detected when absent" },
      map: {
        kind: "text",
        metavar: "NAME=FIELD",
        repeatable: true,
        help: "what a field means: question, expected_answer, options, system, messages, chosen or rejected",
      },
      limit: numberFlag("N", { minimum: 1, whole: true }, "convert at most N rows"),
      preview: numberFlag("N", { minimum: 0, whole: true }, "show the first N rows [default: 2 without -o]"),
      "prompt-config": textFlag("FILE", "prompt template that makes the input from the fields of each row"),
      documents: textFlag("FILE", "documents of an lm-eval task; by default those that the task names"),
      examples: textFlag("FILE", "documents for the worked examples of an lm-eval task"),
      "num-fewshot": numberFlag("N", { minimum: 0, whole: true }, "worked examples of an lm-eval task"),
      processed: { kind: "switch", help: "the documents went through process_docs of the lm-eval task" },
      strict: { kind: "switch", help: "fail and write nothing if a row does not fit" },
      ...searchDirFlag,
      ...jsonFlag,
    },
    keys: hubKeys,
    examples: [
      "gym dataset convert -i questions.csv",
      "gym dataset convert -i questions.csv --map question=Frage --map expected_answer=Antwort -o rows.jsonl",
      "gym dataset convert -i hub:acme/trivia@test -o rows.jsonl",
      "gym dataset convert -i tasks/arc_easy.yaml --documents arc.jsonl -o rows.jsonl",
    ],
    resolve: { noModel: true, offline: true },
    run: async (context) => (await import("../dataset/convert.ts")).convert(context, context.flags),
  }),
  defineCommand({
    words: "dataset collate",
    summary: "validate datasets, compute their metrics and join them by type",
    legacy: ["prepare_data"],
    description:
      "Validate the datasets of a config, compute their metrics, compare them with the metrics on disk and join the rows of each " +
      "type into one file, every row marked with its agent. No model has to be configured.",
    flags: { ...configFlags, ...keyFlags(collateKeys), ...jsonFlag },
    keys: collateKeys,
    examples: [
      "gym dataset collate --resources-server mcqa --mode example_validation --output-dir data/mcqa",
      "gym dataset collate --config my_env.yaml --mode train_preparation --output-dir data/mine --download",
    ],
    resolve: { noModel: true, offline: true },
    run: async (context) => (await import("../dataset/collate.ts")).collateDatasets(context),
  }),
  defineCommand({
    words: "dataset select",
    summary: "choose the tasks of the next training set by their profile",
    description:
      "Choose the tasks of the next training set by the results of a policy: by pass rate, by deviation of the rewards, without duplicates, the same number from every environment. " +
      "Rollouts excluded in the viewer do not count. Writes the task rows and <output>_selection.json, the report; the same seed gives the same rows.",
    flags: {
      profile: {
        kind: "text",
        short: "p",
        metavar: "FILE",
        completes: "file",
        repeatable: true,
        required: true,
        help: "a profile written by gym eval profile",
      },
      ...keyFlags(selectKeys),
      ...jsonFlag,
    },
    keys: selectKeys,
    examples: [
      "gym dataset select -p results/run_reward_profiling.jsonl --pass-rate-min 0.1 --pass-rate-max 0.9 -o next.jsonl",
      "gym dataset select -p a_reward_profiling.jsonl -p b_reward_profiling.jsonl --balance --limit 2000 --prefer deviation --seed 7 -o next.jsonl",
    ],
    resolve: { noModel: true, offline: true },
    run: async (context) =>
      (await import("../dataset/select.ts")).selectDataset(context, context.flags.profile),
  }),
  defineCommand({
    words: "dataset head",
    summary: "show the first rows of a file readably",
    description:
      "Print rows of a JSON lines file or a rollouts file: messages, tools, parameters, then the other fields. Long texts are cut.",
    flags: {
      rows: { ...numberFlag("N", { minimum: 0, whole: true }, "number of rows"), short: "n", default: "5" },
      skip: { ...numberFlag("N", { minimum: 0, whole: true }, "number of rows to skip first"), default: "0" },
      full: { kind: "switch", help: "do not cut long texts" },
      json: { kind: "switch", help: "print the rows as JSON, one per line" },
      ...searchDirFlag,
    },
    positionals: { FILE: { completes: "file", help: "a JSON lines file" } },
    examples: ["gym dataset head data/train.jsonl", "gym dataset head results/rollouts.jsonl -n 1 --full"],
    run: async (context) =>
      (await import("../dataset/head.ts")).showRows(context, context.positionals.FILE, context.flags),
  }),
  defineCommand({
    words: "dataset stats",
    summary: "validate a file and show its statistics",
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
      (await import("../dataset/stats.ts")).showStatistics(context, context.positionals.FILE, context.flags),
  }),
];
