import type { TokenInformation } from "../schemas/item-types.ts";

/** The fields of an item or a chat message that are only for training. */
export const TOKEN_FIELDS = [
  "prompt_token_ids",
  "generation_token_ids",
  "generation_log_probs",
  "routed_experts",
] as const satisfies (keyof TokenInformation)[];

/** An item or a chat message without its token fields. Only training engines accept these. */
export function withoutTokens<Item extends object>(item: Item): Item {
  if (!TOKEN_FIELDS.some((field) => field in item)) return item;
  const rest: Partial<TokenInformation> = { ...item };
  for (const field of TOKEN_FIELDS) delete rest[field];
  return rest as Item;
}
