import { defineCommand } from "../../command.ts";
import { jsonFlag } from "../../flags.ts";

export const envStop = defineCommand({
  description:
    "Stop the servers that `gym env start` started, from any terminal of the same user and machine. " +
    "The command returns when they have stopped. Without servers it does nothing.",
  flags: { ...jsonFlag },
  examples: ["gym env stop", "gym env stop ++head_server.port=11001"],
  resolve: { noModel: true, offline: true },
  run: async (context) => (await import("../../env/stop.ts")).stopServers(context),
});
