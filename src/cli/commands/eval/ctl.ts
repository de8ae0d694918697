import { defineCommand } from "../../command.ts";
import { brokerKeys, queueFlag } from "../../queue/keys.ts";

export const evalCtl = defineCommand({
  description:
    "List the collections of this user that run on this machine, show one, pause and resume it, cancel a rollout, run one again, or change its concurrency. " +
    "ACTION is list (default), show, pause, resume, cancel ID, retry ID or concurrency N|auto. " +
    "With --queue the same for distributed runs of a broker, from any machine: pause stops the workers from taking rollouts, " +
    "concurrency N --worker ID|all sets that of workers, and drain ID lets a worker finish what it has and end.",
  flags: {
    pid: { kind: "text", metavar: "PID", help: "which collection; optional when only one runs" },
    ...queueFlag,
    run: {
      kind: "text",
      metavar: "ID",
      help: "with --queue: which run; optional when there is only one",
    },
    worker: { kind: "text", metavar: "ID", help: "with --queue and concurrency: which worker, or all" },
    json: { kind: "switch", help: "print JSON" },
  },
  positionals: {
    ACTION: {
      help: "what to do",
      optional: true,
      choices: ["list", "show", "pause", "resume", "cancel", "retry", "concurrency", "drain"],
    },
    VALUE: {
      help: "rollout id for cancel and retry, number or auto for concurrency, worker id or all for drain",
      optional: true,
    },
  },
  keys: brokerKeys,
  resolve: { noModel: true, offline: true },
  printsData: true,
  examples: [
    "gym eval ctl",
    "gym eval ctl concurrency 32",
    "gym eval ctl cancel 12-3 --pid 4711",
    "gym eval ctl pause --queue nats://broker:4222",
    "gym eval ctl drain node7-4711-a0f3 --queue nats://broker:4222",
  ],
  run: async (context) =>
    context.flags["queue"] === undefined
      ? (await import("../../eval/ctl.ts")).controlRun(context as never)
      : (await import("../../queue/ctl.ts")).controlQueuedRun(context as never),
});
