import { defineCommand } from "../../command.ts";
import { keyFlags } from "../../config-keys.ts";
import { collectionKeys, servingKeys } from "../../eval/keys.ts";
import { agentTypeFlags, configFlag, modelFlags, searchDirFlag, selectorFlags } from "../../flags.ts";
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
    "top-p": { kind: "value", key: "responses_create_params.top_p", metavar: "P", help: "nucleus sampling" },
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
