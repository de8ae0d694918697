import type { ChatCompletion } from "../schemas/chat-types.ts";

/**
 * Puts the version of the policy that made an answer into its usage, where turns are added up. Engines of trainers give it as
 * `policy_version`; an answer that was begun before a weight update has `policy_version_start` beside it.
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
