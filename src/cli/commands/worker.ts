import { defineCommand } from "../command.ts";
import { searchDirFlag } from "../flags.ts";
import { brokerKeys, queueFlag } from "../queue/keys.ts";

export const worker = defineCommand({
  description:
    "Take rollouts of distributed runs (gym eval run --queue) and run them on this machine. The worker starts the servers of each run's config itself. " +
    "Secrets of that config are not sent: they come from env.yaml and the overrides of the worker. " +
    "Ctrl-C finishes what it has and ends; a second one gives it back.",
  flags: {
    ...queueFlag,
    ...searchDirFlag,
    concurrency: { kind: "text", metavar: "N", help: "rollouts at once (default: automatic)" },
    runs: { kind: "text", metavar: "ID,...", help: "take rollouts of these runs only" },
    tags: {
      kind: "text",
      metavar: "TAG,...",
      help: "what this machine can do, besides sandbox and gpu, which are found by themselves",
    },
    store: {
      kind: "text",
      metavar: "DIR",
      completes: "directory",
      help: "where the shared directory of runs (gym eval run --store) is on this machine, if elsewhere",
    },
    "no-serve": { kind: "switch", help: "use servers that run already on this machine (gym env start)" },
    "exit-when-idle": {
      kind: "text",
      metavar: "SECONDS",
      help: "end when there was nothing to do for so long",
    },
    "max-seconds": {
      kind: "text",
      metavar: "SECONDS",
      help: "drain after so long, for jobs with a time limit",
    },
    "drain-seconds": {
      kind: "text",
      metavar: "SECONDS",
      default: "60",
      help: "time for rollouts under way when the worker drains",
    },
    json: { kind: "switch", help: "print events as JSON lines" },
  },
  keys: brokerKeys,
  examples: [
    "gym worker --queue nats://broker:4222",
    "gym worker --queue nats://broker:4222 --concurrency 256 --tags h100 --exit-when-idle 300",
  ],
  resolve: { noModel: true, offline: true },
  run: async (context) => (await import("../queue/worker.ts")).worker(context),
});
