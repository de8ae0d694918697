import { defineCommand } from "../../command.ts";
import { jsonFlag } from "../../flags.ts";

export const scalePlan = defineCommand({
  description:
    "Compute how many workers, cores and how much memory a number of rollouts in flight needs, from what finished runs used (<rollouts>_resources.json). " +
    "Several runs of the same kind with different numbers in flight make the figure for memory better.",
  flags: {
    rollouts: {
      kind: "text",
      metavar: "FILE",
      repeatable: true,
      required: true,
      completes: "file",
      help: "rollouts file of a finished run; may be given several times",
    },
    "in-flight": {
      kind: "text",
      metavar: "N",
      required: true,
      help: "rollouts at once, 1 to 10000000",
    },
    "rollout-seconds": {
      kind: "text",
      metavar: "SECONDS",
      help: "time of a rollout, if it will differ from the measured one",
    },
    "worker-memory-gb": { kind: "text", metavar: "GB", help: "memory that one worker may take" },
    utilization: {
      kind: "text",
      metavar: "SHARE",
      default: "0.7",
      help: "share of a core that may be busy",
    },
    ...jsonFlag,
  },
  examples: [
    "gym scale plan --rollouts results/mcqa.jsonl --in-flight 100000",
    "gym scale plan --rollouts small.jsonl --rollouts large.jsonl --in-flight 20000 --rollout-seconds 90 --json",
  ],
  printsData: true,
  run: async (context) => (await import("../../queue/scale-plan.ts")).scalePlan(context),
});
