import { defineCommand } from "../../command.ts";
import { keyFlags } from "../../config-keys.ts";
import { exportKeys } from "../../eval/keys.ts";
import { jsonFlag } from "../../flags.ts";

export const evalExport = defineCommand({
  description:
    "Turn rollouts into training data: conversations (sft, chat, trl), pairs (dpo), tasks to be rolled out again (verl, nemo-rl), " +
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
  run: async (context) => (await import("../../eval/export.ts")).exportRun(context),
});
