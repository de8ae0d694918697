import { defineCommand } from "../../command.ts";
import { jsonFlag, searchDirFlag } from "../../flags.ts";

export const listBenchmarks = defineCommand({
  description:
    "List the benchmarks with their domain, agent and repeats, or show one. Benchmarks of the working directory and of " +
    "--search-dir come before the built-in ones.",
  flags: { ...jsonFlag, ...searchDirFlag },
  positionals: {
    NAME: { optional: true, key: "component_name", completes: ["benchmarks"], help: "the benchmark to show" },
  },
  examples: ["gym list benchmarks", "gym list benchmarks gsm8k", "gym list benchmarks --json"],
  run: async (context) => (await import("../../catalog/list-workloads.ts")).listBenchmarks(context),
});
