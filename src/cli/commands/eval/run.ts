import { defineCommand } from "../../command.ts";
import { collectionKeys, servingKeys } from "../../eval/keys.ts";
import {
  agentTypeFlags,
  configFlag,
  healthFlags,
  modelFlags,
  searchDirFlag,
  selectorFlags,
} from "../../flags.ts";
import { queuedRunKeys, queueFlag } from "../../queue/keys.ts";

export const evalRun = defineCommand({
  description:
    "Start the servers of a config, run every row through its agent, write each result as it comes and compute metrics. " +
    "With --no-serve the rollouts are collected from servers that run already (gym env start).",
  flags: {
    ...configFlag,
    ...selectorFlags,
    ...agentTypeFlags,
    ...searchDirFlag,
    "no-serve": { kind: "switch", help: "use servers that run already" },
    resume: { kind: "switch", key: "resume_from_cache", help: "go on with an interrupted run" },
    force: { kind: "switch", help: "resume although inputs or config differ" },
    "retry-failed": {
      kind: "switch",
      key: "retry_failed",
      help: "with --resume: run failed rollouts again, however often they were tried",
    },
    agent: {
      kind: "text",
      short: "a",
      key: "agent_name",
      metavar: "NAME",
      help: "agent for rows that name none",
    },
    input: {
      kind: "text",
      short: "i",
      key: "input_jsonl_fpath",
      metavar: "FILE",
      completes: "file",
      help: "rows to run; the config's example data when absent",
    },
    output: {
      kind: "text",
      short: "o",
      key: "output_jsonl_fpath",
      metavar: "FILE",
      completes: "file",
      help: "where results go (default results/<agent>/<time>/rollouts.jsonl)",
    },
    limit: {
      kind: "value",
      key: "limit",
      metavar: "N",
      help: "input lines to take, before repeats (0: all)",
    },
    "num-repeats": {
      kind: "value",
      key: "num_repeats",
      metavar: "N",
      help: "rollouts per row, or a map by agent",
    },
    "prompt-config": {
      kind: "text",
      key: "prompt_config",
      metavar: "FILE",
      completes: "file",
      help: "prompt template for the rows",
    },
    concurrency: {
      kind: "value",
      key: "num_samples_in_parallel",
      metavar: "N",
      help: "rollouts at once (default, and 0: automatic)",
    },
    "num-samples-in-parallel": {
      kind: "value",
      key: "num_samples_in_parallel",
      metavar: "N",
      help: "the same as --concurrency",
    },
    split: {
      kind: "text",
      key: "split",
      metavar: "NAME",
      help: "collate the config's datasets and run this split",
    },
    ...modelFlags,
    temperature: {
      kind: "value",
      key: "responses_create_params.temperature",
      metavar: "T",
      help: "sampling temperature",
    },
    "top-p": { kind: "value", key: "responses_create_params.top_p", metavar: "P", help: "nucleus sampling" },
    "max-output-tokens": {
      kind: "value",
      key: "responses_create_params.max_output_tokens",
      metavar: "N",
      help: "tokens per model answer",
    },
    "disable-aggregation": {
      kind: "switch",
      key: "disable_aggregation",
      help: "collect only, compute no metrics",
    },
    "fail-under": {
      kind: "value",
      key: "fail_under",
      metavar: "REWARD",
      help: "exit with 3 when the mean reward of an agent is lower",
    },
    "min-coverage": {
      kind: "value",
      key: "min_coverage",
      metavar: "SHARE",
      help: "exit with 3 when a smaller share of the rollouts was scored (0 to 1)",
    },
    ...healthFlags,
    queue: {
      ...queueFlag.queue,
      help: "let workers (gym worker) that share this NATS broker run the rollouts",
    },
    json: { kind: "switch", help: "print events as JSON lines" },
  },
  keysFor: (flags) =>
    flags["no-serve"] ? collectionKeys : { ...collectionKeys, ...servingKeys, ...queuedRunKeys },
  examples: [
    "gym eval run --resources-server mcqa --model-type random_model",
    "gym eval run --benchmark gsm8k --model-type openai_model --split benchmark --num-repeats 4 -o results/gsm8k.jsonl",
    "gym eval run --benchmark gsm8k --model-type vllm_model --queue nats://broker:4222 -o results/gsm8k.jsonl",
    "gym eval run --no-serve -a my_agent -i rows.jsonl -o out.jsonl --resume",
  ],
  run: async (context) => (await import("../../eval/run.ts")).evalRun(context),
});
