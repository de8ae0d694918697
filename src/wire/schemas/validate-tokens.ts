import type { TokenInformation } from "./item-types.ts";
import { at, either, float, int, list, nullable, type Reader, refuse, str, type Trail } from "./readers.ts";

const TOKEN_LISTS = ["prompt_token_ids", "generation_token_ids", "generation_log_probs"] as const;
const tokenReaders = {
  prompt_token_ids: list(int),
  generation_token_ids: list(int),
  generation_log_probs: list(float),
};
const routedExperts: Reader<unknown> = nullable(either<unknown>(str, list(list(list(int)))));

/** Reads the token lists of an item or chat message: all three, or undefined where there is none. */
export function readTokens(value: Record<string, unknown>, trail: Trail): TokenInformation | undefined {
  const routed = value["routed_experts"];
  let present = 0;
  for (const name of TOKEN_LISTS) if (value[name] !== undefined) present++;
  if (present === 0 && routed === undefined) return undefined;
  if (present < TOKEN_LISTS.length) {
    const msg = `Value error, ${TOKEN_LISTS.join(", ")} must all be present when one of them is`;
    return refuse(trail, "value_error", msg, value);
  }
  const tokens: TokenInformation = {
    prompt_token_ids: at("prompt_token_ids", tokenReaders.prompt_token_ids, value["prompt_token_ids"], trail),
    generation_token_ids: at(
      "generation_token_ids",
      tokenReaders.generation_token_ids,
      value["generation_token_ids"],
      trail,
    ),
    generation_log_probs: at(
      "generation_log_probs",
      tokenReaders.generation_log_probs,
      value["generation_log_probs"],
      trail,
    ),
  };
  if (routed !== undefined) tokens.routed_experts = at("routed_experts", routedExperts, routed, trail);
  return tokens;
}
