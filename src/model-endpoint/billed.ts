import type { ChatCompletion } from "../wire/schemas/chat-types.ts";
import type { Response } from "../wire/schemas/responses.ts";
import type { ProviderReply } from "./provider.ts";

type Bill = Pick<ProviderReply<unknown>, "cost" | "cached" | "retries">;

/** Writes into a usage what the call cost, that it came from the cache, or how often it was tried again. */
function billed<T extends object>(usage: T, { cost, cached, retries }: Bill): T {
  return {
    ...usage,
    ...(cost !== null && { ng_cost: cost }),
    ...(cached && { ng_cache_hits: 1 }),
    ...(retries > 0 && { ng_retries: retries }),
  };
}

function isPlain({ cost, cached, retries }: Bill): boolean {
  return cost === null && !cached && retries === 0;
}

/** The response of a call with its cost in `usage.ng_cost`, and `ng_cache_hit` where no call was made. */
export function billedResponse(reply: ProviderReply<Response>): Response {
  const { value, cached } = reply;
  if (isPlain(reply)) return value;
  const response: Response & { ng_cache_hit?: true } = { ...value };
  if (value.usage) response.usage = billed(value.usage, reply);
  if (cached) response.ng_cache_hit = true;
  return response;
}

/** The same for a chat completion. */
export function billedCompletion(reply: ProviderReply<ChatCompletion>): ChatCompletion {
  const { value, cached } = reply;
  if (isPlain(reply)) return value;
  const completion: ChatCompletion & { ng_cache_hit?: true } = { ...value };
  if (value.usage) completion.usage = billed(value.usage, reply);
  if (cached) completion.ng_cache_hit = true;
  return completion;
}
