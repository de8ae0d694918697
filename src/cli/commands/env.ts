import { defineCommand, type FlagTable, type PositionalTable } from "../command.ts";
import { auditKeys, certifyKeys, initKeys, packagesKeys, testKeys } from "../env/keys.ts";
import {
  agentConfigFlags,
  jsonFlag,
  jsonLinesFlag,
  modelFlags,
  searchDirFlag,
  serverFolderFlag,
  textFlag,
  workloadKindFlag,
  workloadName,
} from "../flags.ts";

/** The name of a component that `env init` creates. */
function created(help: string) {
  return { kind: "text", metavar: "NAME", exclusive: "what", help } as const;
}

export const initFlags = {
  "resources-server": { ...serverFolderFlag["resources-server"], exclusive: "what" },
  environment: created("create an environment and its verifier"),
  benchmark: created("create a benchmark and its verifier"),
  game: created("create a resources server that answers every turn of the model"),
  judge: created("create a resources server whose answers a second model grades"),
  agent: created("create an agent server"),
  model: created("create a model server"),
  from: {
    kind: "text",
    metavar: ["KIND", "SOURCE"],
    exclusive: "what",
    help: "create an environment around one of another library: harbor DIRECTORY, openenv URL, verifiers TASKSET or aviary DATASET",
  },
  name: textFlag("NAME", "name of the environment of --from [default: derived from SOURCE]"),
  profile: {
    kind: "text",
    choices: [
      "custom-gym-verifier",
      "custom-gym-agent-loop",
      "external-agent-loop",
      "external-rollout-driver",
    ],
    help: "which part besides the verifier you write yourself: none, the agent's loop, its whole episode, or the coordination of rollouts [default: custom-gym-verifier]",
  },
  "reuse-verifier": {
    kind: "text",
    completes: ["resources_servers"],
    metavar: "NAME",
    help: "score with this resources server instead of a new one",
  },
  "reward-range": {
    kind: "text",
    metavar: ["LOW", "HIGH"],
    help: "the range of rewards of the reused verifier",
  },
  "higher-is-better": {
    kind: "switch",
    exclusive: "direction",
    help: "high rewards of the reused verifier are good",
  },
  "lower-is-better": {
    kind: "switch",
    exclusive: "direction",
    help: "low rewards of the reused verifier are good",
  },
  ...jsonFlag,
} as const satisfies FlagTable;

/** What `env tools` and `env schema` describe. */
const describedName = {
  NAME: {
    completes: ["resources_servers", "environments", "benchmarks"],
    help: "a resources server, an environment, a benchmark, or a config file",
  },
} as const satisfies PositionalTable;
/** The same with `--resources-server`. */
const describedServer = {
  NAME: { ...describedName.NAME, optional: true },
} as const satisfies PositionalTable;
const serverFlag = {
  server: textFlag("INSTANCE", "the resources server, if the config has several"),
} as const satisfies FlagTable;

export const envCommands = [
  defineCommand({
    words: "env init",
    summary: "create a resources server, environment, benchmark, agent or model server",
    legacy: ["init_resources_server"],
    description:
      "Create a component that runs, validates and passes its own test: a resources server (also a game, or one with a judge), an environment or benchmark " +
      "around one, an agent or a model server; or an environment around a Harbor, OpenEnv, verifiers or Aviary environment. Names are lower-case letters, digits and '_'. Existing files are not overwritten. " +
      "In a folder without package.json, the project is created too.",
    flags: initFlags,
    keys: initKeys,
    examples: [
      "gym env init --resources-server my_quiz",
      "gym env init --game my_game",
      "gym env init --benchmark my_quiz_test --reuse-verifier mcqa --reward-range 0 1 --higher-is-better",
      "gym env init --from harbor ./tasks",
      "gym env init --from openenv http://127.0.0.1:8000 --name echo_world",
      "gym env init +entrypoint=resources_servers/my_quiz",
    ],
    resolve: { noModel: true, offline: true },
    run: async (context) => (await import("../env/init.ts")).initComponent(context, context.flags),
  }),
  defineCommand({
    words: "env test",
    summary: "run the tests of one server, or of all",
    legacy: ["test", "test_all"],
    description:
      "Run the tests of one server, or of all servers that have a README.md: those of your project, or of the package if the " +
      "project has none. Without a name, the command also checks the data of resources servers: five examples, " +
      "their metrics and five rollouts. Verifier cases of a resources server " +
      "(tests/verifier_cases.jsonl) run with its tests.\n\n" +
      "With NAME: run the verifier cases of an environment or benchmark against the rewards its manifest declares.",
    flags: {
      ...workloadKindFlag,
      "update-expected": {
        kind: "switch",
        key: "update_expected",
        help: "write the observed rewards into the verifier cases",
      },
      all: { kind: "switch", help: "also test the servers of the package" },
      ...jsonFlag,
      ...serverFolderFlag,
      ...searchDirFlag,
    },
    positionals: workloadName,
    keys: testKeys,
    examples: [
      "gym env test --resources-server mcqa",
      "gym env test +entrypoint=responses_api_agents/simple_agent",
      "gym env test --resources-server my_quiz +should_validate_data=true",
      "gym env test",
      "gym env test my_quiz",
      "gym env test my_quiz --update-expected",
    ],
    resolve: { noModel: true, offline: true },
    run: async (context) => (await import("../env/test/command.ts")).testServers(context),
  }),
  defineCommand({
    words: "env tools",
    summary: "list the tools of an environment",
    description:
      "List the tools of an environment as a request offers them to the model: names, descriptions and the JSON Schema of their arguments. Rows without 'tools' get these.",
    flags: { ...jsonFlag, ...searchDirFlag, ...serverFlag },
    positionals: describedName,
    examples: ["gym env tools workplace_assistant", "gym env tools my_quiz --json"],
    run: async (context) =>
      (await import("../env/describe.ts")).showTools(context, context.positionals.NAME, context.flags.server),
  }),
  defineCommand({
    words: "env schema",
    summary: "print the JSON Schema of an environment's rows",
    description:
      "Print the JSON Schema of the rows of an environment: the request for the model and the fields that session and verifier read. Rows are checked against it before the first model call.",
    flags: {
      "resources-server": textFlag("NAME", "the resources server, instead of NAME"),
      ...searchDirFlag,
      ...serverFlag,
    },
    positionals: describedServer,
    examples: ["gym env schema mcqa", "gym env schema my_quiz > row.schema.json"],
    run: async (context) =>
      (await import("../env/describe.ts")).showRowSchema(context, context.positionals.NAME, context.flags),
  }),
  defineCommand({
    words: "env audit",
    summary: "audit a verifier before anybody trains on it",
    description:
      "Audit a verifier before you train on it. The audit runs unskilled policies (empty answer, refusal, echo, every option, " +
      "random calls) and the correct answer on the example rows, in a separate process and without a model. The correct " +
      "answer must earn the maximum and nonsense the minimum. Results must be deterministic and independent of order and of " +
      "concurrent rollouts. Malformed output must not fail the verifier, and an answer must not fool the judge. " +
      "Verification must be fast. Accepted findings are explained in audit.yaml of the server's folder. Exit 1 when a check fails.",
    flags: {
      ...jsonFlag,
      ...searchDirFlag,
      check: { kind: "text", metavar: "NAME", repeatable: true, help: "only this check" },
      exclude: { kind: "text", metavar: "NAME", repeatable: true, help: "audit all but this one" },
      limit: { kind: "value", key: "limit", metavar: "N", help: "number of example rows" },
      evidence: { kind: "switch", help: "show each response and its result" },
    },
    positionals: {
      NAME: {
        optional: true,
        key: "component_name",
        completes: ["resources_servers", "environments", "benchmarks"],
        help: "a resources server (mcqa, equivalence_llm_judge/lc_judge), an environment, or a config file",
      },
    },
    keys: auditKeys,
    examples: ["gym env audit mcqa", "gym env audit my_quiz --evidence", "gym env audit --json"],
    resolve: { noModel: true, offline: true },
    run: async (context) =>
      (await import("../env/audit.ts")).auditEnvironments(context, {
        only: context.flags.check,
        excluded: context.flags.exclude,
        evidence: context.flags.evidence,
      }),
  }),
  defineCommand({
    words: "env certify",
    summary: "measure how good a verifier and its tests are, and write a certificate",
    description:
      "Run the checks of `gym env audit` and further ones, and write certificate.json into the folder of the server. The certificate " +
      "is bound to digests of the code, the rows and the config. Levels, each with those before it: static (files, leaked answers, " +
      "duplicates, overlap with other files), runtime (behaviour of the server), semantic (right and wrong answers; faults " +
      "put into the verifier in memory, of which its tests should find 85 %), statistical (rollouts of an existing run). Exit 1 when a check fails.",
    flags: {
      level: {
        kind: "text",
        choices: ["static", "runtime", "semantic", "statistical"],
        help: "what to check [default: semantic]",
      },
      against: {
        kind: "text",
        metavar: "FILE",
        repeatable: true,
        completes: "file",
        help: "JSONL rows that must not overlap with those of the environment",
      },
      run: {
        kind: "text",
        metavar: "FILE",
        repeatable: true,
        completes: "file",
        help: "rollouts of an existing run, for the statistical level; two compare two models",
      },
      mutants: {
        kind: "number",
        metavar: "N",
        range: { minimum: 0, whole: true },
        help: "number of faults to try; 0 leaves them out [default: 200]",
      },
      output: {
        kind: "text",
        metavar: "DIR",
        completes: "directory",
        help: "folder for certificate.json [default: that of the server]",
      },
      stale: { kind: "switch", help: "only environments whose certificate is missing or stale" },
      lower: { kind: "switch", help: "also write a certificate whose mutation score is lower than before" },
      limit: { kind: "value", key: "limit", metavar: "N", help: "number of example rows" },
      ...jsonFlag,
      ...searchDirFlag,
    },
    positionals: {
      NAME: {
        optional: true,
        key: "component_name",
        completes: ["resources_servers", "environments", "benchmarks"],
        help: "a resources server, an environment, a benchmark, or a config file",
      },
    },
    keys: certifyKeys,
    examples: [
      "gym env certify mcqa",
      "gym env certify my_quiz --level static --against train.jsonl",
      "gym env certify my_quiz --level statistical --run rollouts.jsonl",
      "gym env certify --stale",
    ],
    resolve: { noModel: true, offline: true },
    run: async (context) => (await import("../env/certify.ts")).certifyEnvironments(context, context.flags),
  }),
  defineCommand({
    words: "env packages",
    summary: "list the packages a server can use",
    legacy: ["pip_list"],
    description:
      "List the packages that a server can use: those of its own node_modules or virtual environment, or else those of its " +
      "project.",
    flags: {
      ...serverFolderFlag,
      ...searchDirFlag,
      outdated: { kind: "switch", key: "outdated", help: "only packages with a newer version" },
      json: { kind: "switch", key: "format", sets: "json", help: "print JSON" },
    },
    keys: packagesKeys,
    examples: ["gym env packages --resources-server mcqa", "gym env packages --resources-server mcqa --json"],
    resolve: { noModel: true, offline: true },
    run: async (context) => (await import("../env/packages.ts")).listPackages(context),
  }),
  defineCommand({
    words: "env prefetch",
    summary: "install the libraries that servers bring, without starting them",
    description:
      "Install the libraries of the servers of a config without starting them, so that a later start needs no network.",
    flags: { ...agentConfigFlags, ...jsonFlag },
    examples: ["gym env prefetch --environment my_env --model-type openai_model"],
    resolve: { noModel: true, offline: true, requireServers: true },
    run: async (context) => (await import("../env/packages.ts")).prefetchServers(context),
  }),
  defineCommand({
    words: "env start",
    summary: "start the servers of a config",
    legacy: ["run"],
    description:
      "Start every server the configs describe and keep them running until Ctrl-C. " +
      "Servers share this process unless the config says otherwise (hosting: process, num_workers), each on its own address.",
    flags: {
      ...agentConfigFlags,
      ...modelFlags,
      watch: { kind: "switch", help: "restart a server when a file in its folder changes" },
      ...jsonLinesFlag,
      "exit-with-parent": {
        kind: "switch",
        help: "stop when standard input closes, as it does when the parent process ends",
      },
      "no-preflight": { kind: "switch", help: "do not call the model endpoint before reporting ready" },
    },
    examples: [
      "gym env start --resources-server example_single_tool_call --model-type random_model",
      "gym env start --environment my_env --model-type openai_model --watch",
    ],
    resolve: { requireServers: true },
    run: async (context) => (await import("../env/start.ts")).envStart(context),
  }),
  defineCommand({
    words: "env stop",
    summary: "stop the servers that run",
    description:
      "Stop the servers that `gym env start` started, from any terminal of the same user and machine. " +
      "The command returns when they have stopped. Without servers it does nothing.",
    flags: { ...jsonFlag },
    examples: ["gym env stop", "gym env stop ++head_server.port=11001"],
    resolve: { noModel: true, offline: true },
    run: async (context) => (await import("../env/running.ts")).stopServers(context),
  }),
  defineCommand({
    words: "env status",
    summary: "show the running servers and their health",
    legacy: ["status"],
    description:
      "Ask the head server which servers run, and each of them whether it answers. " +
      "Without a head server the list is empty. A head server that does not answer is an error.",
    flags: { ...jsonFlag },
    examples: ["gym env status", "gym env status --json"],
    resolve: { noModel: true, offline: true },
    run: async (context) => (await import("../env/running.ts")).showStatus(context),
  }),
  defineCommand({
    words: "env query",
    summary: "ask a running agent one question",
    description:
      "Send one text or one row to a running agent (gym env start) and print its tool calls, their results and its last message. A text offers the model no tools; a row has those of its environment.",
    flags: {
      agent: { kind: "text", short: "a", metavar: "NAME", help: "the agent; optional when only one runs" },
      row: {
        kind: "text",
        metavar: "FILE[:LINE]",
        completes: "file",
        help: "send a row of this JSONL file instead of a text, and score the answer (POST /run)",
      },
      json: { kind: "switch", help: "print the whole response as JSON" },
    },
    positionals: { TEXT: { help: "the text to send", optional: true } },
    examples: [
      'gym env query "Say hello."',
      "gym env query --agent my_agent --row resources_servers/mcqa/data/example.jsonl:3",
    ],
    resolve: { noModel: true, offline: true },
    run: async (context) =>
      (await import("../env/query.ts")).queryAgent(context, context.positionals.TEXT, context.flags),
  }),
  defineCommand({
    words: "env resolve",
    summary: "print the config that files, env.yaml, flags and overrides add up to",
    legacy: ["dump_config"],
    description:
      "Resolve the configs, flags and overrides into the final merged config and print it as YAML. Secrets are hidden.",
    flags: {
      ...agentConfigFlags,
      ...modelFlags,
      json: { kind: "switch", help: "print JSON" },
      explain: textFlag(
        "KEY",
        "show every source that set this key (dots between levels), in order, and mark the effective one",
      ),
    },
    examples: [
      "gym env resolve --config my_env.yaml +limit=5",
      "gym env resolve --config my_env.yaml --explain policy_model.responses_api_models",
    ],
    resolve: { hideSecrets: true },
    printsData: true,
    run: async (context) => (await import("../env/resolve.ts")).showConfig(context, context.flags),
  }),
  defineCommand({
    words: "env validate",
    summary: "check a config, or a manifest, without starting anything",
    legacy: ["validate"],
    description:
      "Check a config without starting anything: paths, YAML, interpolations, ??? values, server blocks and references. " +
      "No model is needed; if you pass one, it is checked too. The servers' code is loaded to check their keys; " +
      "an unknown key causes a warning that names the nearest valid key. With --deep, code that is missing or broken is an error instead of a warning.\n\n" +
      "With NAME or --manifest: check the manifest of an environment or benchmark against its config and its data.",
    flags: {
      ...agentConfigFlags,
      ...modelFlags,
      ...workloadKindFlag,
      manifest: {
        kind: "text",
        key: "manifest_path",
        metavar: "PATH",
        completes: "file",
        help: "the manifest to check, instead of NAME",
      },
      deep: {
        kind: "switch",
        help: "reject code that is missing or cannot be loaded, and values that cannot be resolved",
      },
      strict: {
        kind: "switch",
        key: "strict",
        help: "reject a config whose model is not set; without it, no model is needed",
      },
      sync: {
        kind: "switch",
        key: "sync",
        help: "update the fields of the manifest that repeat the config",
      },
      ...jsonFlag,
    },
    positionals: workloadName,
    examples: [
      "gym env validate --config my_env.yaml",
      "gym env validate --resources-server my_quiz --deep",
      "gym env validate --benchmark gsm8k --model-type openai_model --strict",
      "gym env validate my_quiz --sync",
      "gym env validate --manifest environments/my_quiz/manifest.yaml --json",
    ],
    resolve: { noModel: true },
    run: async (context) => (await import("../env/validate.ts")).validate(context, context.flags),
  }),
  defineCommand({
    words: "env publish",
    summary: "check that an environment or benchmark is ready for others",
    description:
      "Check that an environment or benchmark is ready for others: its manifest matches its config and its data, its verifier " +
      "passes its cases, the manifest is complete, and the catalog shows it. The command lists everything that is left to " +
      "do. Nothing is uploaded or committed: the manifest is the entry of the catalog.",
    flags: { ...workloadKindFlag, ...jsonFlag, ...searchDirFlag },
    positionals: workloadName,
    examples: ["gym env publish my_quiz", "gym env publish gsm8k --kind benchmark --json"],
    resolve: { noModel: true, offline: true },
    run: async (context) => (await import("../env/workload.ts")).publish(context),
  }),
];
