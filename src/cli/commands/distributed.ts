import { defineCommand, type FlagTable } from "../command.ts";
import { jsonFlag, jsonLinesFlag, numberFlag, searchDirFlag, textFlag } from "../flags.ts";
import { brokerKeys, queueFlag } from "../queue/keys.ts";

export const workerFlags = {
  ...queueFlag,
  ...searchDirFlag,
  concurrency: numberFlag("N", { minimum: 1 }, "rollouts at once (default: automatic)"),
  runs: textFlag("ID,...", "take rollouts of these runs only"),
  tags: textFlag(
    "TAG,...",
    "tags of this machine, besides sandbox and gpu, which are detected automatically",
  ),
  store: {
    kind: "text",
    metavar: "DIR",
    completes: "directory",
    help: "where the shared directory of runs (gym eval run --store) is on this machine, if elsewhere",
  },
  "no-serve": { kind: "switch", help: "use servers that already run on this machine (gym env start)" },
  "allow-no-sandbox": {
    kind: "switch",
    help: "join runs whose config has sandbox: none; their code runs with all your rights",
  },
  "exit-when-idle": numberFlag("SECONDS", { minimum: 0 }, "exit after this time without work"),
  "max-seconds": numberFlag("SECONDS", { minimum: 0 }, "drain after this time, for jobs with a time limit"),
  "drain-seconds": {
    ...numberFlag("SECONDS", { minimum: 0 }, "time for current rollouts when the worker drains"),
    default: "60",
  },
  ...jsonLinesFlag,
} as const satisfies FlagTable;

export const brokerFlags = {
  host: { kind: "text", metavar: "ADDRESS", default: "127.0.0.1", help: "address to listen on" },
  port: {
    ...numberFlag("PORT", { minimum: 1, maximum: 65_535, whole: true }, "port to listen on"),
    default: "4222",
  },
  directory: {
    kind: "text",
    metavar: "DIR",
    default: "results/nats",
    completes: "directory",
    help: "where the broker keeps its files",
  },
} as const satisfies FlagTable;

export const scaleFlags = {
  rollouts: {
    kind: "text",
    metavar: "FILE",
    repeatable: true,
    required: true,
    completes: "file",
    help: "rollouts file of a finished run",
  },
  "in-flight": {
    ...numberFlag("N", { minimum: 1, maximum: 10_000_000, whole: true }, "rollouts at once, 1 to 10000000"),
    required: true,
  },
  "rollout-seconds": numberFlag(
    "SECONDS",
    { minimum: 0.001, maximum: 1e6 },
    "time of a rollout, if it will differ from the measured one",
  ),
  "worker-memory-gb": numberFlag("GB", { minimum: 0.1, maximum: 1e5 }, "memory that one worker may take"),
  utilization: {
    ...numberFlag("SHARE", { minimum: 0.05, maximum: 1 }, "share of a core that may be busy"),
    default: "0.7",
  },
  ...jsonFlag,
} as const satisfies FlagTable;

export const distributedCommands = [
  defineCommand({
    words: "worker",
    summary: "run rollouts of distributed runs on this machine",
    description:
      "Take rollouts of distributed runs (gym eval run --queue) and run them on this machine. The worker starts the servers of each run's config itself. " +
      "Secrets of that config are not sent: they come from env.yaml and the overrides of the worker. " +
      "After Ctrl-C the worker finishes its rollouts and exits; a second Ctrl-C returns them to the queue.",
    flags: workerFlags,
    keys: brokerKeys,
    examples: [
      "gym worker --queue nats://broker:4222",
      "gym worker --queue nats://broker:4222 --concurrency 256 --tags h100 --exit-when-idle 300",
    ],
    resolve: { noModel: true, offline: true },
    run: async (context) => (await import("../queue/worker.ts")).worker(context, context.flags),
  }),
  defineCommand({
    words: "queue up",
    summary: "start a NATS broker on this machine",
    description:
      "Start nats-server with JetStream on this machine and keep it running until Ctrl-C. It listens on loopback unless you pass --host. " +
      "Without NATS_USER and NATS_PASSWORD only commands of the same user on this machine can log in; --host needs both.",
    flags: brokerFlags,
    examples: ["gym queue up", "NATS_USER=gym NATS_PASSWORD=... gym queue up --host 0.0.0.0"],
    run: async (context) => (await import("../queue/up.ts")).queueUp(context, context.flags),
  }),
  defineCommand({
    words: "queue status",
    summary: "show the runs and workers of a broker",
    description:
      "List the distributed runs of a broker with their waiting and running rollouts, and the workers.",
    flags: { ...queueFlag, ...jsonFlag },
    keys: brokerKeys,
    examples: ["gym queue status", "gym queue status --queue nats://broker:4222 --json"],
    resolve: { noModel: true, offline: true },
    printsData: true,
    run: async (context) => (await import("../queue/broker.ts")).showQueue(context),
  }),
  defineCommand({
    words: "queue purge",
    summary: "remove a run from a broker",
    description:
      "Remove a run, or with --all every run, from a broker: its waiting rollouts do not run. " +
      "Results in files are kept, and the run can be resumed. A running collector is not stopped.",
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
    run: async (context) =>
      (await import("../queue/broker.ts")).purgeQueue(context, context.positionals.RUN, context.flags.all),
  }),
  defineCommand({
    words: "scale plan",
    summary: "compute the workers, cores and memory for rollouts in flight",
    description:
      "Compute how many workers, cores and how much memory a number of rollouts in flight needs, from the resource usage of finished runs (<rollouts>_resources.json). " +
      "Several runs of the same kind with different numbers in flight improve the estimate of memory.",
    flags: scaleFlags,
    examples: [
      "gym scale plan --rollouts results/mcqa.jsonl --in-flight 100000",
      "gym scale plan --rollouts small.jsonl --rollouts large.jsonl --in-flight 20000 --rollout-seconds 90 --json",
    ],
    printsData: true,
    run: async (context) => (await import("../queue/scale-plan.ts")).scalePlan(context, context.flags),
  }),
];
