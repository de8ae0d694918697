import { defineCommand } from "../command.ts";
import { jsonFlag, searchDirFlag } from "../flags.ts";

export const search = defineCommand({
  description:
    "Find components by name, domain or description, and workloads also by agent, resources server and dataset; small " +
    "misspellings are forgiven. Without a type the environments and benchmarks are searched.",
  flags: { ...jsonFlag, ...searchDirFlag },
  positionals: {
    TYPE: {
      optional: true,
      choices: ["benchmarks", "environments", "agents", "models", "resources-servers"],
      help: "what to look for",
    },
    QUERY: { key: "query", rest: true, help: "words to look for" },
  },
  examples: ["gym search math", "gym search agents gymnasium", "gym search benchmarks gsm8k --json"],
  run: async (context) =>
    (await import("../catalog/search.ts")).searchCatalog(context, context.positionals.TYPE),
});
