import { defineCommand } from "../../command.ts";
import { jsonFlag, searchDirFlag } from "../../flags.ts";

export const listEnvironments = defineCommand({
  description:
    "List environments and benchmarks, or show one. Those of the working directory and of --search-dir come before the " +
    "built-in ones.",
  flags: {
    ...jsonFlag,
    ...searchDirFlag,
    domain: { kind: "text", key: "domain", metavar: "DOMAIN", help: "only this domain" },
    kind: {
      kind: "text",
      key: "catalog_kind",
      choices: ["environment", "benchmark"],
      help: "only this kind",
    },
    modality: { kind: "text", key: "modality", metavar: "MODALITY", help: "only this modality" },
    licensing: { kind: "text", key: "licensing", metavar: "LICENSE", help: "only this licence" },
    status: {
      kind: "text",
      key: "status",
      choices: ["experimental", "no-manifest"],
      help: "with a manifest (experimental) or without",
    },
    lifecycle: {
      kind: "text",
      key: "lifecycle",
      choices: ["active", "deprecated"],
      help: "only this lifecycle",
    },
  },
  positionals: {
    NAME: {
      optional: true,
      key: "component_name",
      completes: ["environments", "benchmarks"],
      help: "the environment to show",
    },
  },
  examples: ["gym list environments", "gym list environments --domain math --json"],
  run: async (context) => (await import("../../catalog/list-workloads.ts")).listEnvironments(context),
});
