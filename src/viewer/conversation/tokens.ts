import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import type { ResponseOutputItem } from "../../wire/schemas/door.ts";
import { type CallTokens, classifyBoundary, placedCallsOf } from "../../wire/tokens/light-door.ts";
import { numberOf, objectOf } from "./json-values.ts";

/**
 * How the tokens of a model call continue those of the previous call; `unknown` if lists of a large row are truncated.
 */
export interface TokenBoundary {
  /** The model call, from 1, in conversation order. */
  call: number;
  /** Index of the call's last item in `response.output`. */
  outputIndex: number;
  kind: "first" | "extend" | "fork" | "lost" | "unknown";
  /** Number of prompt tokens that match the previous call. */
  agreeing: number;
  /** For forks: where the prompt diverges, and the id of the previous call there. */
  departsIn: "prompt" | "generation" | undefined;
  expected: number | undefined;
}

/** The boundaries between the model calls of a row; empty without token ids. `isCut` reports truncated lists. */
export function tokenBoundariesOf(
  row: JsonObject,
  isCut: (outputIndex: number) => boolean = () => false,
): TokenBoundary[] {
  const response = objectOf(row["response"]);
  const output = Array.isArray(response["output"]) ? response["output"].map(itemWithIds) : [];
  if (!output.some(({ prompt_token_ids }) => prompt_token_ids !== undefined)) return [];
  const calls = placedCallsOf(output);
  return calls.map(({ tokens, place }, index) => {
    const boundary = { call: index + 1, outputIndex: place, departsIn: undefined, expected: undefined };
    const before = calls[index - 1];
    if (before === undefined) return { ...boundary, kind: tokens ? "first" : "lost", agreeing: 0 };
    if (isCut(place) || isCut(before.place)) return { ...boundary, kind: "unknown", agreeing: 0 };
    const found = classifyBoundary(before.tokens, tokens);
    if (found.kind === "lost") return { ...boundary, kind: "lost", agreeing: 0 };
    if (found.kind === "extend") return { ...boundary, kind: "extend", agreeing: lengthOf(before.tokens) };
    const { agreeing, departsIn } = found;
    return { ...boundary, kind: "fork", agreeing, departsIn, expected: idAt(before.tokens, agreeing) };
  });
}

/** The token information in the row. */
interface TokenReport {
  /** `_ng_token_capture` without the counts of boundaries. */
  capture: { name: string; value: unknown }[];
  /** Counts of boundaries as written by the collector or the agent. */
  counts: { extend: number; fork: number; lost: number } | undefined;
}

export function tokenReportOf(row: JsonObject): TokenReport {
  const capture = objectOf(row["_ng_token_capture"]);
  const counts = [capture["turn_boundaries"], row["_ng_turn_boundaries"]].find(isObject);
  return {
    capture: Object.entries(capture)
      .filter(([name]) => name !== "turn_boundaries")
      .map(([name, value]) => ({ name, value })),
    counts: counts && {
      extend: numberOf(counts["extend"]) ?? 0,
      fork: numberOf(counts["fork"]) ?? 0,
      lost: numberOf(counts["lost"]) ?? 0,
    },
  };
}

/** Rows can come from any program: items that are not objects, or whose lists are not arrays, have no ids. */
function itemWithIds(item: unknown): ResponseOutputItem {
  if (!isObject(item)) return { type: "" } as unknown as ResponseOutputItem;
  const hasIds = Array.isArray(item["prompt_token_ids"]) && Array.isArray(item["generation_token_ids"]);
  const { prompt_token_ids: _p, generation_token_ids: _g, ...rest } = item;
  return (hasIds ? item : rest) as unknown as ResponseOutputItem;
}

function lengthOf(tokens: CallTokens | undefined): number {
  return tokens === undefined ? 0 : tokens.prompt_token_ids.length + tokens.generation_token_ids.length;
}

function idAt(tokens: CallTokens | undefined, place: number): number | undefined {
  if (tokens === undefined) return undefined;
  const { prompt_token_ids: prompt, generation_token_ids: generation } = tokens;
  return place < prompt.length ? prompt[place] : generation[place - prompt.length];
}

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
