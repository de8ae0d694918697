import { command, type Program } from "../command.ts";

/**
 * Everything `gym` can do. A new command is one file in the folder of its group and one line here: words, summary, where it is, and
 * its older `ng_*` names, if any. Only the command that is called gets loaded.
 */
export const program: Program = {
  groups: [
    { name: "list", summary: "list available components" },
    { name: "dataset", summary: "manage datasets" },
    { name: "env", summary: "develop and run environments" },
    { name: "eval", summary: "run evaluations" },
    { name: "queue", summary: "brokers of distributed runs" },
    { name: "scale", summary: "size of distributed runs" },
    { name: "sandbox", summary: "see and remove sandboxes" },
    { name: "math", summary: "compare mathematical answers" },
    { name: "dev", summary: "contributor helpers" },
  ],
  commands: [
    command(
      "list benchmarks",
      "list the benchmarks, or show one",
      async () => (await import("./list/benchmarks.ts")).listBenchmarks,
      "list_benchmarks",
    ),
    command(
      "list environments",
      "list environments and benchmarks, or show one",
      async () => (await import("./list/environments.ts")).listEnvironments,
    ),
    command(
      "list agents",
      "list the agents, or show one",
      async () => (await import("./list/agents.ts")).listAgents,
    ),
    command(
      "list models",
      "list the model servers, or show one",
      async () => (await import("./list/models.ts")).listModels,
    ),
    command(
      "list resources-servers",
      "list the resources servers, or show one",
      async () => (await import("./list/resources-servers.ts")).listResourcesServers,
    ),
    command("search", "find components", async () => (await import("./search.ts")).search),
    command(
      "dataset upload",
      "upload a dataset to Hugging Face or to the GitLab registry",
      async () => (await import("./dataset/upload.ts")).datasetUpload,
      "upload_dataset_to_hf",
      "upload_dataset_to_gitlab --storage gitlab",
    ),
    command(
      "dataset download",
      "download a dataset from Hugging Face or from the GitLab registry",
      async () => (await import("./dataset/download.ts")).datasetDownload,
      "download_dataset_from_hf",
      "download_dataset_from_gitlab --storage gitlab",
    ),
    command(
      "dataset rm",
      "delete a dataset from the GitLab registry",
      async () => (await import("./dataset/rm.ts")).datasetRm,
      "delete_dataset_from_gitlab",
    ),
    command(
      "dataset migrate",
      "move a dataset from the GitLab registry to Hugging Face",
      async () => (await import("./dataset/migrate.ts")).datasetMigrate,
      "gitlab_to_hf_dataset",
    ),
    command(
      "dataset render",
      "fill a prompt template with the fields of every row",
      async () => (await import("./dataset/render.ts")).datasetRender,
      "materialize_prompts",
    ),
    command(
      "dataset collate",
      "validate datasets, compute their metrics and join them by type",
      async () => (await import("./dataset/collate.ts")).datasetCollate,
      "prepare_data",
    ),
    command(
      "dataset select",
      "choose the tasks of the next training set by their profile",
      async () => (await import("./dataset/select.ts")).datasetSelect,
    ),
    command(
      "dataset head",
      "show the first rows of a file readably",
      async () => (await import("./dataset/head.ts")).datasetHead,
    ),
    command(
      "dataset stats",
      "validate a file and show its statistics",
      async () => (await import("./dataset/stats.ts")).datasetStats,
    ),
    command(
      "env init",
      "create a resources server, environment, benchmark, agent or model server",
      async () => (await import("./env/init.ts")).envInit,
      "init_resources_server",
    ),
    command(
      "env test",
      "run the tests of one server, or of all",
      async () => (await import("./env/test.ts")).envTest,
      "test",
      "test_all",
    ),
    command(
      "env tools",
      "list the tools of an environment",
      async () => (await import("./env/tools.ts")).envTools,
    ),
    command(
      "env schema",
      "print the JSON Schema of an environment's rows",
      async () => (await import("./env/schema.ts")).envSchema,
    ),
    command(
      "env audit",
      "audit a verifier before anybody trains on it",
      async () => (await import("./env/audit.ts")).envAudit,
    ),
    command(
      "env packages",
      "list the packages a server can use",
      async () => (await import("./env/packages.ts")).envPackages,
      "pip_list",
    ),
    command(
      "env prefetch",
      "install the libraries that servers bring, without starting them",
      async () => (await import("./env/prefetch.ts")).envPrefetch,
    ),
    command(
      "env start",
      "start the servers of a config",
      async () => (await import("./env/start.ts")).envStart,
      "run",
    ),
    command("env stop", "stop the servers that run", async () => (await import("./env/stop.ts")).envStop),
    command(
      "env status",
      "show the running servers and their health",
      async () => (await import("./env/status.ts")).envStatus,
      "status",
    ),
    command(
      "env query",
      "ask a running agent one question",
      async () => (await import("./env/query.ts")).envQuery,
    ),
    command(
      "env resolve",
      "print the config that files, env.yaml, flags and overrides add up to",
      async () => (await import("./env/resolve.ts")).envResolve,
      "dump_config",
    ),
    command(
      "env validate",
      "check a config, or a manifest, without starting anything",
      async () => (await import("./env/validate.ts")).envValidate,
      "validate",
    ),
    command(
      "env publish",
      "check that an environment or benchmark is ready for others",
      async () => (await import("./env/publish.ts")).envPublish,
    ),
    command(
      "eval prepare",
      "write the rows of a benchmark",
      async () => (await import("./eval/prepare.ts")).evalPrepare,
      "prepare_benchmark",
    ),
    command(
      "eval run",
      "run an evaluation: start the servers, collect rollouts, compute metrics",
      async () => (await import("./eval/run.ts")).evalRun,
      "e2e_collect_rollouts",
      "collect_rollouts --no-serve",
    ),
    command(
      "eval aggregate",
      "join the rollouts of several runs and compute the metrics of the whole",
      async () => (await import("./eval/aggregate.ts")).evalAggregate,
      "aggregate_rollouts",
    ),
    command(
      "eval health-check",
      "check whether the rollouts of a run can be trusted",
      async () => (await import("./eval/health-check.ts")).evalHealthCheck,
    ),
    command(
      "eval profile",
      "statistics of the rewards of every task",
      async () => (await import("./eval/profile.ts")).evalProfile,
      "reward_profile",
      "profile",
    ),
    command(
      "eval reverify",
      "score stored rollouts again without asking the model",
      async () => (await import("./eval/reverify.ts")).evalReverify,
    ),
    command(
      "eval submit",
      "run benchmarks as Slurm jobs (experimental)",
      async () => (await import("./eval/submit.ts")).evalSubmit,
    ),
    command(
      "eval compare",
      "compare two runs task by task",
      async () => (await import("./eval/compare.ts")).evalCompare,
    ),
    command(
      "eval view",
      "look at rollouts in the browser",
      async () => (await import("./eval/view.ts")).evalView,
      "viewer",
    ),
    command(
      "eval export",
      "turn rollouts into training data or tables",
      async () => (await import("./eval/export.ts")).evalExport,
    ),
    command(
      "eval ctl",
      "look at running collections and steer them",
      async () => (await import("./eval/ctl.ts")).evalCtl,
    ),
    command(
      "worker",
      "run rollouts of distributed runs on this machine",
      async () => (await import("./worker.ts")).worker,
    ),
    command(
      "queue up",
      "start a NATS broker on this machine",
      async () => (await import("./queue/up.ts")).queueUp,
    ),
    command(
      "queue status",
      "show the runs and workers of a broker",
      async () => (await import("./queue/status.ts")).queueStatus,
    ),
    command(
      "queue purge",
      "remove a run from a broker",
      async () => (await import("./queue/purge.ts")).queuePurge,
    ),
    command(
      "scale plan",
      "compute the workers, cores and memory for rollouts in flight",
      async () => (await import("./scale/plan.ts")).scalePlan,
    ),
    command(
      "sandbox doctor",
      "say which sandbox providers work here, and why the others do not",
      async () => (await import("./sandbox/doctor.ts")).sandboxDoctor,
    ),
    command(
      "sandbox ls",
      "list the sandboxes of this machine",
      async () => (await import("./sandbox/ls.ts")).sandboxLs,
    ),
    command(
      "sandbox gc",
      "remove sandboxes that dead runs left behind",
      async () => (await import("./sandbox/gc.ts")).sandboxGc,
    ),
    command(
      "math check",
      "compare two answers and say which rule decided",
      async () => (await import("./math/check.ts")).mathCheck,
    ),
    command(
      "dev test",
      "run the unit tests of this project with coverage",
      async () => (await import("./dev/test.ts")).devTest,
      "dev_test",
    ),
    command(
      "completion",
      "print a completion script for your shell",
      async () => (await import("./completion.ts")).completion,
    ),
  ],
};
