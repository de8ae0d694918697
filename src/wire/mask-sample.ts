import { isObject } from "../python/json/json-object.ts";

/**
 * The members that exclude a rollout from training. NeMo RL reads `instance_config.mask_sample`; our own readers and other
 * trainers read `mask_sample` at the top level.
 */
export function maskMembers(row: Readonly<Record<string, unknown>>): {
  mask_sample: true;
  instance_config: Record<string, unknown>;
} {
  const config = row["instance_config"];
  return { mask_sample: true, instance_config: { ...(isObject(config) ? config : {}), mask_sample: true } };
}
