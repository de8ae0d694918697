import { defineCommand } from "../../command.ts";
import type { KeyTable } from "../../config-keys.ts";
import { hubKeys } from "../../dataset/keys.ts";
import { benchmarkFlag, configFlag, jsonFlag, searchDirFlag } from "../../flags.ts";

const keys = {
  use_cached_prepared_benchmarks: {
    type: "bool",
    default: false,
    help: "leave out benchmarks whose file exists",
  },
  num_prepare_benchmark_processes: {
    type: "int",
    default: 1,
    minimum: 1,
    help: "scripts that run at the same time",
  },
  prepare_script_args: { type: "dict", help: "arguments of the scripts, such as {source: huggingface}" },
  python_executable: { type: "str", help: "the Python for scripts written in it [default: python3]" },
  ...hubKeys,
} as const satisfies KeyTable;

export const evalPrepare = defineCommand({
  description:
    "Write the rows of a benchmark with its prepare script. The built-in benchmarks use a few rows of their own until they get the place of the " +
    "real dataset: +prepare_script_args.source=huggingface, or the path of its file.",
  flags: { ...configFlag, ...benchmarkFlag, ...searchDirFlag, ...jsonFlag },
  keys,
  examples: [
    "gym eval prepare --benchmark gsm8k",
    "gym eval prepare --benchmark gsm8k +prepare_script_args.source=downloads/test.jsonl",
  ],
  resolve: { noModel: true, offline: true },
  run: async (context) => (await import("../../eval/prepare.ts")).prepare(context, keys),
});
