import { isObject } from "../../python/json/json-object.ts";

/** The tokens of a model call, as recorded by a training run on its last item. */
export interface ItemTokens {
  prompt: readonly number[] | undefined;
  generation: readonly number[] | undefined;
  logProbs: readonly number[] | undefined;
  /** Tokens as text with their log probability, if the provider sent them. */
  texts: readonly { token: string; logprob: number }[] | undefined;
}

/** The tokens of an item, if any. */
export function tokensOf(item: unknown): ItemTokens | undefined {
  if (!isObject(item)) return undefined;
  const tokens: ItemTokens = {
    prompt: numbers(item["prompt_token_ids"]),
    generation: numbers(item["generation_token_ids"]),
    logProbs: numbers(item["generation_log_probs"]),
    texts: tokenTexts(item["content"]),
  };
  return Object.values(tokens).some((value) => value !== undefined) ? tokens : undefined;
}

function numbers(value: unknown): number[] | undefined {
  return Array.isArray(value) && value.length > 0 ? value.map(Number) : undefined;
}

function tokenTexts(content: unknown): { token: string; logprob: number }[] | undefined {
  if (!Array.isArray(content)) return undefined;
  const found = content
    .flatMap((part: unknown) => (isObject(part) && Array.isArray(part["logprobs"]) ? part["logprobs"] : []))
    .filter(isObject)
    .map((entry) => ({ token: String(entry["token"]), logprob: Number(entry["logprob"]) }));
  return found.length > 0 ? found : undefined;
}
