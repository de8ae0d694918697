import { filterKeys } from "../catalog/keys.ts";
import { type CommandContext, defineCommand, type PositionalTable } from "../command.ts";
import { keyFlags } from "../config-keys.ts";
import { jsonFlag, searchDirFlag } from "../flags.ts";

/** The implementations of the types of `gym list` and `gym search`. */
const workloads = () => import("../catalog/list-workloads.ts");
const components = () => import("../catalog/list-components.ts");
const LISTINGS = {
  benchmarks: async (context) => (await workloads()).listBenchmarks(context),
  environments: async (context) => (await workloads()).listEnvironments(context),
  agents: async (context) => (await components()).listAgents(context),
  models: async (context) => (await components()).listModels(context),
  "resources-servers": async (context) => (await components()).listResourcesServers(context),
} as const satisfies Record<string, (context: CommandContext) => Promise<number>>;

/** The component to show instead of the list. */
function shown(completes: readonly string[], help: string): PositionalTable {
  return { NAME: { optional: true, key: "component_name", completes, help } };
}

export const catalogCommands = [
  defineCommand({
    words: "list benchmarks",
    summary: "list the benchmarks, or show one",
    legacy: ["list_benchmarks"],
    description:
      "List the benchmarks with their domain, agent and repeats, or show one. Benchmarks of the working directory and of " +
      "--search-dir come before the built-in ones.",
    flags: { ...jsonFlag, ...searchDirFlag },
    positionals: shown(["benchmarks"], "the benchmark to show"),
    examples: ["gym list benchmarks", "gym list benchmarks gsm8k", "gym list benchmarks --json"],
    run: LISTINGS.benchmarks,
  }),
  defineCommand({
    words: "list environments",
    summary: "list environments and benchmarks, or show one",
    description:
      "List environments and benchmarks, or show one. Those of the working directory and of --search-dir come before the " +
      "built-in ones.",
    flags: { ...jsonFlag, ...searchDirFlag, ...keyFlags(filterKeys) },
    positionals: shown(["environments", "benchmarks"], "the environment to show"),
    examples: ["gym list environments", "gym list environments --domain math --json"],
    run: LISTINGS.environments,
  }),
  defineCommand({
    words: "list agents",
    summary: "list the agents, or show one",
    description:
      "List the agents, and whether they use a resources server (composable) or have their own environment.",
    flags: { ...jsonFlag, ...searchDirFlag },
    positionals: shown(["responses_api_agents"], "the agent to show"),
    examples: ["gym list agents simple_agent", "gym list agents --json"],
    run: LISTINGS.agents,
  }),
  defineCommand({
    words: "list models",
    summary: "list the model servers, or show one",
    description: "List the model servers for --model-type.",
    flags: { ...jsonFlag, ...searchDirFlag },
    positionals: shown(["responses_api_models"], "the model to show"),
    examples: ["gym list models", "gym list models --json"],
    run: LISTINGS.models,
  }),
  defineCommand({
    words: "list resources-servers",
    summary: "list the resources servers, or show one",
    description: "List the resources servers for --resources-server.",
    flags: { ...jsonFlag, ...searchDirFlag },
    positionals: shown(["resources_servers"], "the resources server to show"),
    examples: ["gym list resources-servers mcqa", "gym list resources-servers --json"],
    run: LISTINGS["resources-servers"],
  }),
  defineCommand({
    words: "list suites",
    summary: "list the suites, or show the members of one",
    description:
      "List the suites for `gym eval run --suite`, or show the members of one: their settings, whether their rows are here, and why a member cannot run.",
    flags: { ...jsonFlag, ...searchDirFlag },
    positionals: { NAME: { optional: true, help: "the suite to show, or its .yaml file" } },
    examples: ["gym list suites", "gym list suites nemotron_3_ultra/benchmarks_short"],
    run: async (context) =>
      (await import("../suite/list-suites.ts")).listSuites(context, context.positionals.NAME),
  }),
  defineCommand({
    words: "search",
    summary: "find components",
    description:
      "Find components by name, domain or description, and workloads also by agent, resources server, dataset, value, " +
      "modality, licence and capability (judge, mcp, multi-turn). If nothing contains the words, similar ones match. " +
      "Without a type it searches environments and benchmarks.",
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
    run: (context) => LISTINGS[context.positionals.TYPE ?? "environments"](context),
  }),
];
