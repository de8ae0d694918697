import { defineCommand } from "../../command.ts";
import { jsonFlag } from "../../flags.ts";
import { brokerKeys, queueFlag } from "../../queue/keys.ts";

export const queueStatus = defineCommand({
  description:
    "List the distributed runs of a broker with what waits and what workers have, and the workers.",
  flags: { ...queueFlag, ...jsonFlag },
  keys: brokerKeys,
  examples: ["gym queue status", "gym queue status --queue nats://broker:4222 --json"],
  resolve: { noModel: true, offline: true },
  printsData: true,
  run: async (context) => (await import("../../queue/status.ts")).showQueue(context),
});
