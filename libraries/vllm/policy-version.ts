import type { ChatCompletion } from "nemo-gym/openai";

/**
 * Adds the policy version of an answer to its usage. Engines of trainers report it as `policy_version`. An answer that
 * was started before a weight update also has `policy_version_start`.
 */
export function withPolicyVersion(completion: ChatCompletion): ChatCompletion {
  const {
    policy_version: given,
    policy_version_start: first,
    usage,
  } = completion as ChatCompletion & Record<string, unknown>;
  if (!isVersion(given) || !usage) return completion;
  const start = isVersion(first) ? first : given;
  return {
    ...completion,
    usage: { ...usage, ng_policy_version_start: start, ng_policy_version_end: given },
  };
}

const isVersion = (value: unknown): value is number => Number.isSafeInteger(value);
