import { defineCommand } from "../../command.ts";
import { agentTypeFlags, configFlag, jsonFlag, searchDirFlag, selectorFlags } from "../../flags.ts";

export const envPrefetch = defineCommand({
  description:
    "Install what the servers of a config bring as libraries of their own, without starting anything, so that a later " +
    "start needs no network.",
  flags: { ...configFlag, ...selectorFlags, ...agentTypeFlags, ...searchDirFlag, ...jsonFlag },
  examples: ["gym env prefetch --environment my_env --model-type openai_model"],
  resolve: { noModel: true, offline: true, requireServers: true },
  run: async (context) => (await import("../../env/prefetch.ts")).prefetchServers(context),
});
