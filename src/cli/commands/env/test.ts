import { defineCommand } from "../../command.ts";
import type { KeyTable } from "../../config-keys.ts";
import { jsonFlag, searchDirFlag, serverFolderFlag, workloadKindFlag, workloadName } from "../../flags.ts";

const oneKeys = {
  entrypoint: {
    type: "str",
    help: "the server to test, such as resources_servers/mcqa; without it all of the project are tested",
  },
  should_validate_data: {
    type: "bool",
    default: false,
    help: "check the example data of a resources server too",
  },
} as const satisfies KeyTable;

const allKeys = {
  fail_on_total_and_test_mismatch: {
    type: "bool",
    default: false,
    help: "fail when a server is not tested since it has no README.md",
  },
  delete_venvs_after_each_test: {
    type: "bool",
    default: false,
    help: "accepted for older scripts; Node servers have no environment to delete",
  },
  num_shards: { type: "int", default: 1, minimum: 1, help: "test only every n-th server" },
  shard_index: { type: "int", default: 0, minimum: 0, help: "which of the shards, from 0" },
} as const satisfies KeyTable;

const keys = { ...oneKeys, ...allKeys } as const;

export const envTest = defineCommand({
  description:
    "Run the tests of one server, or of all servers that have a README.md: those of your project, or of the package where it " +
    "has none. All also checks the data that resources " +
    "servers ship: five examples, their metrics and five rollouts. Verifier cases of a resources server " +
    "(tests/verifier_cases.jsonl) run with its tests.\n\n" +
    "With NAME: run the verifier cases of an environment or benchmark against the rewards its manifest declares.",
  flags: {
    ...workloadKindFlag,
    "update-expected": {
      kind: "switch",
      key: "update_expected",
      help: "write the rewards that were seen into the verifier cases",
    },
    all: { kind: "switch", help: "test the servers that come with the package too" },
    ...jsonFlag,
    ...serverFolderFlag,
    ...searchDirFlag,
  },
  positionals: workloadName,
  keys,
  examples: [
    "gym env test --resources-server mcqa",
    "gym env test +entrypoint=responses_api_agents/simple_agent",
    "gym env test --resources-server my_quiz +should_validate_data=true",
    "gym env test",
    "gym env test my_quiz",
    "gym env test my_quiz --update-expected",
  ],
  resolve: { noModel: true, offline: true },
  run: async (context) => (await import("../../env/test/command.ts")).testServers(context, keys),
});
