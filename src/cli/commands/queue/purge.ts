import { defineCommand } from "../../command.ts";
import { jsonFlag } from "../../flags.ts";
import { brokerKeys, queueFlag } from "../../queue/keys.ts";

export const queuePurge = defineCommand({
  description:
    "Remove a run, or with --all every run, from a broker: what waits there is not run. " +
    "Results that are in files stay, and the run can be resumed. A collector that still runs is not stopped.",
  flags: {
    ...queueFlag,
    all: { kind: "switch", help: "remove every run" },
    ...jsonFlag,
  },
  positionals: { RUN: { help: "id of the run, as gym queue status lists it", optional: true } },
  keys: brokerKeys,
  examples: ["gym queue purge 3f2a9c01b7de", "gym queue purge --all"],
  resolve: { noModel: true, offline: true },
  printsData: true,
  run: async (context) => (await import("../../queue/purge.ts")).purgeQueue(context as never),
});
