import { defineCommand } from "../../command.ts";
import type { KeyTable } from "../../config-keys.ts";
import { jsonFlag, searchDirFlag } from "../../flags.ts";

const keys = {
  component_name: { type: "str", help: "the environment to audit; all resources servers without one" },
  limit: { type: "int", minimum: 1, default: 5, help: "example rows that are used" },
  rollout_timeout_seconds: {
    type: "float",
    minimum: 0.1,
    default: 60,
    help: "a rollout that takes longer hangs",
  },
} as const satisfies KeyTable;

export const envAudit = defineCommand({
  description:
    "Audit a verifier before anybody trains on it. Policies that deserve nothing (empty answer, refusal, echo, every option, " +
    "random calls) and the right answer are run over the example rows, in a process of its own and without a model: the right " +
    "answer must earn the maximum, nonsense the minimum; results must be deterministic, independent of order and of what runs " +
    "beside them; broken output must not fail; it must be fast; judges must not be talked over. Findings that stand are explained " +
    "in audit.yaml of the server's folder. Exit 1 when a check fails.",
  flags: {
    ...jsonFlag,
    ...searchDirFlag,
    check: {
      kind: "text",
      metavar: "NAME",
      repeatable: true,
      help: "only this check; may be given several times",
    },
    limit: { kind: "value", key: "limit", metavar: "N", help: "example rows that are used" },
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
  keys,
  examples: ["gym env audit mcqa", "gym env audit my_quiz --evidence", "gym env audit --json"],
  resolve: { noModel: true, offline: true },
  run: async (context) =>
    (await import("../../env/audit.ts")).auditEnvironments(context, keys, {
      only: context.flags.check,
      evidence: context.flags.evidence,
    }),
});
