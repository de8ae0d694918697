import { z } from "zod";
import type { Response, ResponseOutputItem } from "../../wire/schemas/door.ts";
import { type TokenRecord, withoutTokens } from "../../wire/tokens/door.ts";

/** A later version may change the meaning of fields. */
const TOKEN_SCHEMA_VERSION = 1;

/** One line of `<id>.tokens.jsonl`: the tokens of one model call and its items. */
export interface TokenCaptureRecord extends TokenRecord {
  schema_version: typeof TOKEN_SCHEMA_VERSION;
  rollout_id: string;
  model: string;
  routed_experts: unknown;
  output_items: ResponseOutputItem[];
  token_item_index: number;
}

const ids = z.array(z.number().int());
const Line = z.looseObject({
  schema_version: z
    .number()
    .int()
    .max(
      TOKEN_SCHEMA_VERSION,
      `was written by a newer version (this one reads up to ${TOKEN_SCHEMA_VERSION})`,
    )
    .default(TOKEN_SCHEMA_VERSION),
  rollout_id: z.string(),
  model_call_id: z.string().min(1),
  model: z.string().nullish(),
  prompt_token_ids: ids,
  generation_token_ids: ids,
  generation_log_probs: z.array(z.number()),
  routed_experts: z.unknown(),
  output_items: z.array(z.record(z.string(), z.unknown())).nullish(),
  token_item_index: z.number().int().nullish(),
  created_at: z.number().default(0),
});

/** Parses one line. Throws for a line that is not a record, or a record of a newer version. */
export function parseTokenRecord(text: string): TokenCaptureRecord {
  const line = Line.parse(JSON.parse(text));
  const { output_items: items, token_item_index: index, generation_token_ids, generation_log_probs } = line;
  if (generation_token_ids.length !== generation_log_probs.length) {
    throw new Error(
      `model call ${line.model_call_id} has ${generation_token_ids.length} token ids but ${generation_log_probs.length} log-probabilities`,
    );
  }
  if (index != null && (index < 0 || index >= (items?.length ?? 0)))
    throw new Error(`model call ${line.model_call_id} has its tokens on item ${index}, which does not exist`);
  return { ...line, output_items: items ?? [] } as unknown as TokenCaptureRecord;
}

/** The record as one line of JSON with sorted keys, so that equal records are equal texts. */
export function tokenRecordLine(record: TokenCaptureRecord): string {
  return JSON.stringify(sorted(record));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return typeof value[0] === "number" ? value : value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted((value as Record<string, unknown>)[key])]));
}

const REQUIRED = ["prompt_token_ids", "generation_token_ids", "generation_log_probs"] as const;

/** The tokens of an answer cannot be recorded. The rollout is then incomplete. */
class TokensMissing extends Error {}

/** Creates the record of an answer. One of its items must have all three token lists. */
export function tokenRecordOf(
  response: Pick<Response, "output" | "model">,
  call: { rolloutId: string; modelCallId: string; finishedAt: number },
): TokenCaptureRecord {
  const carriers = response.output.flatMap((item, index) =>
    REQUIRED.some((name) => item[name] !== undefined && item[name] !== null) ? [index] : [],
  );
  const [index] = carriers;
  if (index === undefined) throw new TokensMissing("the model's answer carries no token ids");
  if (carriers.length > 1) throw new TokensMissing("several items of the model's answer carry token ids");
  const item = response.output[index] as ResponseOutputItem;
  const { prompt_token_ids, generation_token_ids, generation_log_probs, routed_experts } = item;
  if (!prompt_token_ids || !generation_token_ids || !generation_log_probs) {
    const missing = REQUIRED.filter((name) => !item[name]).join(", ");
    throw new TokensMissing(`the model's answer carries token ids without ${missing}`);
  }
  return {
    schema_version: TOKEN_SCHEMA_VERSION,
    rollout_id: call.rolloutId,
    model_call_id: call.modelCallId,
    model: response.model,
    prompt_token_ids,
    generation_token_ids,
    generation_log_probs,
    routed_experts: routed_experts ?? null,
    output_items: response.output.map(withoutTokens),
    token_item_index: index,
    created_at: call.finishedAt,
  };
}
