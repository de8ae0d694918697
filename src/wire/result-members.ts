import { isObject } from "../python/json/json-object.ts";

/** What the judges of one verification were asked and answered: `_ng_judge` of a result. */
export interface JudgeTally {
  calls: number;
  input_tokens: number;
  output_tokens: number;
  /** Replies without a verdict that could be read. */
  unreadable: number;
}

export function emptyJudgeTally(): JudgeTally {
  return { calls: 0, input_tokens: 0, output_tokens: 0, unreadable: 0 };
}

/** Exceptions that the tools of a server raised in one rollout: `_ng_tool_exceptions` of a result. */
export interface ToolExceptions {
  server: string;
  count: number;
  /** The message of the first one. */
  message: string;
}

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
