import type { FlagTable } from "../command.ts";
import { type KeyTable, text } from "../config-keys.ts";
import { UsageError } from "../errors.ts";

/** The connection to the broker. Defaults come from the variables of the `nats` command line. */
export const brokerKeys = {
  queue_url: { type: "str", help: "address of the broker, nats://host:4222; NATS_URL when absent" },
  queue_user: { type: "str", help: "user at the broker; NATS_USER when absent" },
  queue_password: { type: "str", help: "password at the broker; NATS_PASSWORD when absent" },
  queue_creds_file: { type: "str", help: "file with a JWT and its seed; NATS_CREDS when absent" },
  queue_nkey_file: { type: "str", help: "file with an nkey seed; NATS_NKEY when absent" },
  queue_tls_ca_file: { type: "str", help: "certificate authority of the broker; NATS_CA when absent" },
  queue_tls_cert_file: { type: "str", help: "client certificate; NATS_CERT when absent" },
  queue_tls_key_file: { type: "str", help: "key of that certificate; NATS_KEY when absent" },
  queue_owner: {
    type: "any",
    help: "uid of the user whose broker on this machine is trusted, besides yours and those of root; any: everybody's",
  },
  queue_outage_seconds: {
    type: "float",
    minimum: 1,
    default: 3600,
    help: "how long collector and workers wait for a broker that is away, or full, before they give up",
  },
} as const satisfies KeyTable;

/** How a run uses the broker. */
export const queuedRunKeys = {
  ...brokerKeys,
  queue_lease_seconds: {
    type: "float",
    minimum: 1,
    default: 30,
    help: "a worker that is silent for this long loses its rollouts",
  },
  queue_max_deliver: {
    type: "int",
    minimum: 1,
    default: 10,
    help: "workers that may be lost over one rollout before it fails as worker_lost",
  },
  queue_store_host: {
    type: "str",
    computed: true,
    help: "address at which workers reach the collector; that of its connection to the broker when absent",
  },
  queue_store_dir: text(
    { name: "store", metavar: "DIR" },
    "with --queue: directory that workers share with the collector, for rows and results; without it, rows and results go over HTTP",
  ),
  queue_store_port: { type: "int", minimum: 0, default: 0, help: "port of the collector; 0: any free one" },
  queue_weights: {
    type: "dict",
    help: "share of the places by agent, such as {math_agent: 3}; 1 when absent",
  },
  queue_needs: { type: "dict", help: "tags a worker needs by agent, such as {code_agent: [sandbox]}" },
} as const satisfies KeyTable;

export const queueFlag = {
  queue: {
    kind: "text",
    key: "queue_url",
    metavar: "URL",
    help: "address of the NATS broker (default NATS_URL)",
  },
} as const satisfies FlagTable;

/** `queue_weights`: positive numbers by agent. */
export function weightsOf(given: Record<string, unknown> | undefined): Record<string, number> | undefined {
  for (const [agent, weight] of Object.entries(given ?? {}))
    if (typeof weight !== "number" || !(weight > 0))
      throw new UsageError(`queue_weights.${agent} must be a number above 0`);
  return given as Record<string, number> | undefined;
}

/** `queue_needs`: lists of tags by agent. */
export function needsOf(given: Record<string, unknown> | undefined): Record<string, string[]> | undefined {
  if (given === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(given).map(([agent, tags]) => {
      const list = typeof tags === "string" ? [tags] : tags;
      if (!Array.isArray(list) || list.some((tag) => typeof tag !== "string"))
        throw new UsageError(`queue_needs.${agent} must be a list of tags`);
      return [agent, list as string[]];
    }),
  );
}
