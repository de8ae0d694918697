import { defineCommand } from "../../command.ts";

export const evalSubmit = defineCommand({
  description:
    "Run benchmarks as Slurm jobs: one YAML says what to serve, on which nodes, and what to evaluate. " +
    "Further words change that YAML (driver.benchmarks.gpqa.run.limit=10). Experimental.",
  flags: {
    config: {
      kind: "text",
      short: "c",
      metavar: "PATH",
      completes: "file",
      required: true,
      help: "YAML of the submission",
    },
    "dry-run": { kind: "switch", help: "print the scripts, submit nothing" },
    json: { kind: "switch", help: "print JSON" },
  },
  examples: [
    "gym eval submit --config jobs.yaml --dry-run",
    "gym eval submit -c jobs.yaml compute.cluster.walltime=02:00:00",
  ],
  run: async (context) => (await import("../../eval/submit.ts")).submitRun(context),
});
