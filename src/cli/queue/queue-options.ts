import path from "node:path";
import type { ResolvedConfig } from "../../config/door.ts";
import type { EvaluationOptions } from "../../run/door.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { UsageError } from "../errors.ts";
import { brokerOf } from "./broker-settings.ts";
import { needsOf, queuedRunKeys, weightsOf } from "./keys.ts";

/** The queue options; undefined if this process runs the rollouts. */
export function queueOf({ env, io }: CommandContext, config: ResolvedConfig): EvaluationOptions["queue"] {
  const keys = readKeys(queuedRunKeys, config);
  const { queue_store_dir: directory } = keys;
  if (keys.queue_url === undefined) {
    if (directory !== undefined)
      throw new UsageError("`--store` is for runs with workers: add `--queue URL`.");
    return undefined;
  }
  return {
    broker: brokerOf(keys, env),
    leaseSeconds: keys.queue_lease_seconds,
    maxDeliver: keys.queue_max_deliver,
    outageSeconds: keys.queue_outage_seconds,
    storeHost: keys.queue_store_host,
    storePort: keys.queue_store_port,
    storeDirectory: directory === undefined ? undefined : path.resolve(io.cwd, directory),
    weights: weightsOf(keys.queue_weights),
    needs: needsOf(keys.queue_needs),
  };
}
