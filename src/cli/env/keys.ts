import type { KeyTable } from "../config-keys.ts";

export const initKeys = {
  entrypoint: { type: "str", required: true, help: "the folder to create, resources_servers/NAME" },
} as const;

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
    help: "fail when a server is skipped because it has no README.md",
  },
  delete_venvs_after_each_test: {
    type: "bool",
    default: false,
    help: "accepted for older scripts; Node servers have no environment to delete",
  },
  num_shards: { type: "int", default: 1, minimum: 1, help: "test only every n-th server" },
  shard_index: { type: "int", default: 0, minimum: 0, help: "index of the shard, from 0" },
} as const satisfies KeyTable;

export const testKeys = { ...oneKeys, ...allKeys } as const;

export const auditKeys = {
  component_name: { type: "str", help: "the environment to audit; all resources servers without one" },
  limit: { type: "int", minimum: 1, default: 5, help: "number of example rows" },
  rollout_timeout_seconds: {
    type: "float",
    minimum: 0.1,
    default: 60,
    help: "time after which a rollout counts as hung",
  },
} as const satisfies KeyTable;

export const certifyKeys = {
  component_name: { type: "str", help: "the environment to certify" },
  limit: auditKeys.limit,
} as const satisfies KeyTable;

export const packagesKeys = {
  entrypoint: { type: "str", required: true, help: "the server, such as resources_servers/mcqa" },
  format: { type: "str", choices: ["columns", "freeze", "json"], help: "how to print the list" },
  outdated: { type: "bool", default: false, help: "only packages with a newer version" },
} as const satisfies KeyTable;
