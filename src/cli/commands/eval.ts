import { defineCommand } from "../command.ts";
import { keyFlags } from "../config-keys.ts";
import { prepareKeys } from "../dataset/keys.ts";
import {
  aggregateKeys,
  collectionKeys,
  compareKeys,
  compareReportKeys,
  exportKeys,
  profileKeys,
  reverifyKeys,
  servingKeys,
  taskProfileKeys,
  viewKeys,
} from "../eval/keys.ts";
import {
  agentConfigFlags,
  benchmarkFlag,
  configFlag,
  configFlags,
  jsonFlag,
  jsonLinesFlag,
  modelFlags,
  numberFlag,
  searchDirFlag,
  textFlag,
} from "../flags.ts";
import { brokerKeys, queuedRunKeys, queueFlag } from "../queue/keys.ts";

const { materialized_inputs_jsonl_fpath: inputs } = profileKeys;
const { rollouts_jsonl_fpath: _shared, ...olderKeys } = taskProfileKeys;
const optional = Object.fromEntries(
  Object.entries(olderKeys).map(([name, { type, help }]) => [name, { type, help: `older form: ${help}` }]),
);

export const evalCommands = [
  defineCommand({
    words: "eval prepare",
    summary: "write the rows of a benchmark",
    legacy: ["prepare_benchmark"],
    description:
      "Write the rows of a benchmark as its prepare.yaml or its script says. Benchmarks that include a few rows use them unless you pass the source of the " +
      "real dataset: --source original, or the path of its file. An interrupted download continues, and the file appears only when it is complete.",
    flags: {
      ...configFlag,
      ...benchmarkFlag,
      source: {
        kind: "text",
        key: "prepare_script_args.source",
        metavar: "FILE",
        help: "original: the published data; or its file. Short for +prepare_script_args.source=FILE",
      },
      limit: numberFlag("N", { minimum: 1, whole: true }, "write at most N rows"),
      explain: numberFlag("ROW", { minimum: 1, whole: true }, "write nothing; show how this row is made"),
      ...searchDirFlag,
      ...jsonFlag,
    },
    keys: prepareKeys,
    examples: [
      "gym eval prepare --benchmark gsm8k",
      "gym eval prepare --benchmark gsm8k --source original --limit 100",
      "gym eval prepare --benchmark gsm8k --source downloads/test.jsonl --explain 1",
    ],
    resolve: { noModel: true, offline: true },
    run: async (context) => (await import("../eval/prepare.ts")).prepare(context),
  }),
  defineCommand({
    words: "eval run",
    summary: "run an evaluation: start the servers, collect rollouts, compute metrics",
    legacy: ["e2e_collect_rollouts", "collect_rollouts --no-serve"],
    description:
      "Start the servers of a config, run every row through its agent, write each result when it arrives and compute metrics. " +
      "With --no-serve it uses servers that already run (gym env start).",
    flags: {
      ...agentConfigFlags,
      suite: textFlag(
        "NAME",
        "run the members of this suite, or of its .yaml file (gym list suites), into the folder of -o",
      ),
      "no-serve": { kind: "switch", help: "use servers that already run" },
      prepare: {
        kind: "switch",
        help: "download the rows of benchmarks that are not prepared, without asking",
      },
      force: { kind: "switch", help: "resume although inputs or config differ" },
      ...keyFlags(collectionKeys),
      ...keyFlags(servingKeys),
      "num-samples-in-parallel": {
        kind: "value",
        key: "num_samples_in_parallel",
        metavar: "N",
        help: "the same as --concurrency",
      },
      ...modelFlags,
      temperature: {
        kind: "value",
        key: "responses_create_params.temperature",
        metavar: "T",
        help: "sampling temperature",
      },
      "top-p": {
        kind: "value",
        key: "responses_create_params.top_p",
        metavar: "P",
        help: "nucleus sampling",
      },
      "max-output-tokens": {
        kind: "value",
        key: "responses_create_params.max_output_tokens",
        metavar: "N",
        help: "tokens per model answer",
      },
      queue: {
        ...queueFlag.queue,
        help: "let workers (gym worker) that share this NATS broker run the rollouts",
      },
      ...keyFlags(queuedRunKeys),
      ...jsonLinesFlag,
    },
    keysFor: (flags) =>
      flags["no-serve"] ? collectionKeys : { ...collectionKeys, ...servingKeys, ...queuedRunKeys },
    examples: [
      "gym eval run --resources-server mcqa --model-type random_model",
      "gym eval run --benchmark gsm8k --model-type openai_model --num-repeats 4 -o results/gsm8k.jsonl",
      "gym eval run --benchmark gsm8k --model-type vllm_model --queue nats://broker:4222 -o results/gsm8k.jsonl",
      "gym eval run --suite math_basics --model-type openai_model -o results/math_basics",
      "gym eval run --no-serve -a my_agent -i rows.jsonl -o out.jsonl --resume",
    ],
    run: async (context) => (await import("../eval/run.ts")).evalRun(context),
  }),
  defineCommand({
    words: "eval aggregate",
    summary: "join the rollouts of several runs and compute their metrics",
    legacy: ["aggregate_rollouts"],
    description:
      "Join the rollouts of several runs (shards) and compute the metrics of all of them. The command asks the agents of the rows if they are running, or else starts the " +
      "servers of the config. Without either, it computes only the default metrics.",
    flags: { ...configFlags, ...keyFlags(aggregateKeys), ...jsonFlag },
    keys: aggregateKeys,
    examples: ["gym eval aggregate --config my_env.yaml -i 'results/shard_*.jsonl' -o results/all.jsonl"],
    resolve: { noModel: true },
    run: async (context) => (await import("../eval/aggregate.ts")).aggregateShards(context),
  }),
  defineCommand({
    words: "eval health-check",
    summary: "check whether the rollouts of a run can be trusted",
    description:
      "Check whether the rollouts of a run can be trusted: readable rows, model calls that succeeded with output, consistent token " +
      "counts. Writes rollout_verdicts.jsonl and quality_summary.json to the directory of RUN and changes nothing else. If these files may belong to another run, their names begin with the name of the rollouts. Runs automatically after eval run and eval aggregate. " +
      "A rollout without recorded model calls (observability_enabled) is unobserved, not healthy.",
    flags: {
      "rollouts-file": {
        kind: "text",
        metavar: "PATH",
        completes: "file",
        default: "rollouts.jsonl",
        help: "rollouts, relative to the directory RUN",
      },
      workers: numberFlag(
        "N",
        { minimum: 1, whole: true },
        "threads (default: one for each core, at most 8)",
      ),
      "ignore-checks": textFlag("A,B", "ids of checks to skip"),
      ignore: textFlag("A,B", "the same as --ignore-checks"),
      ...jsonFlag,
    },
    positionals: { RUN: { completes: "file", help: "directory or rollouts file of a run" } },
    examples: [
      "gym eval health-check results/my_agent/2026-01-31T12-00-00",
      "gym eval health-check results --rollouts-file base.jsonl --ignore-checks model_call_missing_token_counts --json",
    ],
    run: async (context) => {
      const { flags, positionals } = context;
      return (await import("../eval/health-check.ts")).healthCheck(context, {
        run: positionals.RUN,
        file: flags["rollouts-file"],
        workers: flags.workers,
        ignored: [flags["ignore-checks"], flags.ignore],
      });
    },
  }),
  defineCommand({
    words: "eval profile",
    summary: "statistics of the rewards of every task",
    legacy: ["reward_profile", "profile"],
    description:
      "Statistics of the rewards of every task and its pass rate, for choosing tasks by difficulty: <rollouts>_reward_profiling.jsonl and <rollouts>_agent_metrics.json. " +
      "The older form, chosen by output_jsonl_fpath, writes the rows of input_jsonl_fpath with avg_reward, std_reward, pass_rate and so on.",
    flags: { ...keyFlags(profileKeys), ...jsonFlag },
    keys: {
      ...profileKeys,
      materialized_inputs_jsonl_fpath: {
        type: inputs.type,
        help: `${inputs.help}; not read by the older form`,
      },
      ...optional,
      pass_threshold: {
        type: "float",
        default: 1,
        help: "reward from which a rollout passes; no default in the older form",
      },
    },
    examples: [
      "gym eval profile --inputs out_materialized_inputs.jsonl --rollouts out.jsonl",
      "gym eval profile +input_jsonl_fpath=tasks.jsonl +rollouts_jsonl_fpath=out.jsonl +output_jsonl_fpath=profiled.jsonl +pass_threshold=1.0",
    ],
    resolve: { noModel: true, offline: true },
    run: async (context) => (await import("../eval/profile.ts")).profileCommand(context),
  }),
  defineCommand({
    words: "eval reverify",
    summary: "score stored rollouts again without asking the model",
    description:
      "Score stored rollouts again with the verifiers of a config, without asking the model. Servers that do not declare their verifiers safe for this are " +
      "rejected, unless you pass --force. --judge-failed-only recovers rollouts whose judge could not be reached. " +
      "--input-format atif scores trajectories of other programs, each for the input row that the manifest names.",
    flags: { ...configFlags, ...keyFlags(reverifyKeys), ...jsonLinesFlag },
    keys: reverifyKeys,
    examples: [
      "gym eval reverify --resources-server mcqa --inputs out_materialized_inputs.jsonl --rollouts out.jsonl -o rescored.jsonl",
      "gym eval reverify --config my_env.yaml --inputs in.jsonl --rollouts out.jsonl -o out.jsonl --judge-failed-only --append",
      "gym eval reverify --resources-server mcqa --inputs in.jsonl --input-format atif --atif-manifest atif/manifest.jsonl -o scored.jsonl",
    ],
    resolve: { noModel: true },
    run: async (context) => (await import("../eval/reverify.ts")).reverifyRollouts(context),
  }),
  defineCommand({
    words: "eval submit",
    summary: "run benchmarks as Slurm jobs (experimental)",
    description:
      "Run benchmarks as Slurm jobs: one YAML file defines the models, the nodes and the benchmarks. " +
      "Overrides change that file (driver.benchmarks.gpqa.run.limit=10). Experimental.",
    flags: {
      config: {
        kind: "text",
        short: "c",
        metavar: "PATH",
        completes: "file",
        required: true,
        help: "YAML of the submission",
      },
      "dry-run": { kind: "switch", help: "print the scripts, submit nothing", exclusive: "stop" },
      "resolve-only": {
        kind: "switch",
        help: "print the checked config with its overrides, submit nothing",
        exclusive: "stop",
      },
      json: { kind: "switch", help: "print JSON" },
    },
    examples: [
      "gym eval submit --config jobs.yaml --dry-run",
      "gym eval submit --config jobs.yaml --resolve-only --json",
      "gym eval submit -c jobs.yaml compute.cluster.walltime=02:00:00",
    ],
    run: async (context) => (await import("../eval/submit.ts")).submitRun(context),
  }),
  defineCommand({
    words: "eval compare",
    summary: "compare two runs task by task",
    description:
      "Compare two runs task by task: difference of the mean rewards with interval and significance, tasks on which the second is better or " +
      "worse, and those that flipped. Further runs are compared with the first, in one table. A run is a rollouts file, or a directory with rollouts.jsonl in it.\n\n" +
      "With --baseline and --candidates: compare all metrics of their aggregate metrics (<rollouts>_aggregate_metrics.json) and write " +
      "compare_report.md and compare_report.json.",
    flags: { ...keyFlags(compareKeys), ...keyFlags(compareReportKeys), ...jsonFlag },
    positionals: {
      RUN_A: { completes: "file", optional: true, help: "rollouts to compare with" },
      RUN_B: { completes: "file", many: true, optional: true, help: "rollouts to be compared with RUN_A" },
    },
    keys: { ...compareKeys, ...compareReportKeys },
    examples: [
      "gym eval compare results/base.jsonl results/tuned.jsonl",
      "gym eval compare a.jsonl b.jsonl --json",
      "gym eval compare base.jsonl small.jsonl large.jsonl",
      "gym eval compare main.jsonl branch.jsonl --fail-on-regression",
      "gym eval compare --baseline base.jsonl --candidates small.jsonl,large.jsonl -o report",
    ],
    resolve: { noModel: true, offline: true },
    run: async (context) => {
      const { RUN_A, RUN_B } = context.positionals;
      if (RUN_A === undefined) return (await import("../eval/compare-report.ts")).reportComparison(context);
      return (await import("../eval/compare.ts")).compareWithFirst(context, [RUN_A, ...RUN_B]);
    },
  }),
  defineCommand({
    words: "eval view",
    summary: "look at rollouts in the browser",
    legacy: ["viewer"],
    description:
      "Look at runs in the browser: all runs below a directory, the overview of each, its tasks and repeats, every rollout turn by turn, comparisons of runs, " +
      "and runs in progress. RUN is a rollouts file (also .gz), a directory, a pattern such as 'results/*/run.jsonl', or the http(s) address of a file; without it, results/. " +
      "OTHER and further runs are compared with it, at most five. --to-html and --to-folder write the run as static pages instead of serving it.",
    flags: {
      ...keyFlags(viewKeys),
      "allow-host": {
        kind: "text",
        metavar: "NAME",
        repeatable: true,
        help: "another host name of the viewer, for example behind a proxy",
      },
      where: textFlag(
        "QUERY",
        "show only the rollouts that match a query, such as 'reward<0.5 tool:python'; also for --to-html",
      ),
      open: { kind: "switch", help: "open the viewer in the default browser" },
      "read-only": { kind: "switch", help: "disable annotations and control of a run in progress" },
      "no-token": { kind: "switch", help: "allow access without the token of the address" },
      "to-html": {
        kind: "text",
        metavar: "FILE",
        completes: "file",
        help: "write the rollouts of --where (at most 500) into one HTML file",
        exclusive: "export",
      },
      "to-folder": {
        kind: "text",
        metavar: "DIRECTORY",
        completes: "directory",
        help: "write the run as a folder of static pages for any web host",
        exclusive: "export",
      },
      ...jsonFlag,
    },
    positionals: {
      RUN: {
        completes: "file",
        help: "rollouts file, directory, pattern or address (default: results)",
        optional: true,
        key: "jsonl_fpath",
      },
      OTHER: {
        completes: "file",
        help: "runs to compare with RUN, at most five",
        optional: true,
        many: true,
      },
    },
    keys: viewKeys,
    examples: [
      "gym eval view --open",
      "gym eval view results/my_agent/2026-01-31T12-00-00 --port 8080",
      "gym eval view before.jsonl after.jsonl",
      "gym eval view base.jsonl small.jsonl large.jsonl",
      "gym eval view results/run.jsonl --where 'reward<0.5 tool:python turns>6'",
      "gym eval view results/run.jsonl --where 'is:failed' --to-html failures.html",
      "ng_viewer +jsonl_fpath=weather_rollouts.jsonl +server_host=0.0.0.0",
    ],
    resolve: { noModel: true, offline: true },
    run: async (context) => {
      const { OTHER } = context.positionals;
      return (await import("../eval/view.ts")).viewRun(context, context.flags, OTHER);
    },
  }),
  defineCommand({
    words: "eval export",
    summary: "turn rollouts into training data or tables",
    description:
      "Turn rollouts into training data: conversations (sft, chat, trl), pairs (dpo), tasks for new rollouts (verl, nemo-rl), " +
      "training sequences of token ids (skyrl, prime-rl; trl, verl and nemo-rl with --tokens), trajectories (art, atif), single model calls (calls) or a flat table (csv, parquet). Rows that cannot be exported are reported with their line, never dropped silently.",
    flags: {
      ...keyFlags(exportKeys),
      strict: { kind: "switch", help: "exit with 1 when any row is invalid" },
      ...jsonFlag,
    },
    keys: exportKeys,
    examples: [
      "gym eval export --rollouts out.jsonl --format sft --reward-min 1 --best-of 1",
      "gym eval export --rollouts out.jsonl --format dpo --pairs all --min-margin 0.5 -o pairs.jsonl",
      "gym eval export --rollouts out.jsonl --format verl --tokens --verify-tokens --health not-unhealthy",
      "gym eval export --rollouts out.jsonl --format atif --output-dir trajectories --session-id night-7 --agent-version 1.2",
      "gym eval export --rollouts out.jsonl --format nemo-rl --pass-rate-min 0.1 --pass-rate-max 0.9",
    ],
    resolve: { noModel: true, offline: true },
    run: async (context) => (await import("../eval/export.ts")).exportRun(context),
  }),
  defineCommand({
    words: "eval ctl",
    summary: "look at running collections and steer them",
    description:
      "List the runs of this user on this machine, show one, pause and resume it, cancel a rollout, run one again, or change its concurrency. " +
      "ACTION is list (default), show, pause, resume, cancel ID, retry ID or concurrency N|auto. " +
      "With --queue the same for distributed runs of a broker, from any machine: pause stops the workers from taking rollouts, " +
      "concurrency N --worker ID|all sets that of workers, and drain ID lets a worker finish its rollouts and exit.",
    flags: {
      pid: textFlag("PID", "which run; optional when only one is in progress"),
      ...queueFlag,
      run: textFlag("ID", "with --queue: which run; optional when there is only one"),
      worker: textFlag("ID", "with --queue and concurrency: which worker, or all"),
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
    run: async (context) => {
      const { flags, positionals } = context;
      const given = { ...flags, action: positionals.ACTION ?? "list", value: positionals.VALUE };
      return flags.queue === undefined
        ? (await import("../eval/ctl.ts")).controlRun(context, given)
        : (await import("../queue/broker.ts")).controlQueuedRun(context, given);
    },
  }),
];
