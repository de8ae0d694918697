import { errorMessage } from "../../errors.ts";
import { dumps } from "../../python/json/json-dumps.ts";
import { loads } from "../../python/json/json-loads.ts";
import { copyWith } from "../../python/json/key-order.ts";
import { RolloutError } from "../errors.ts";
import type { Row } from "../files/jsonl-rows.ts";

/**
 * A copy of the row whose `responses_create_params.metadata.extra_body`, a JSON text, has the member `seed`. Metadata holds only
 * strings, so this is how a parameter beyond the API reaches the model server.
 */
export function withSeed(row: Row, seed: number): Row {
  const params = row["responses_create_params"] as Row;
  const metadata = objectOr(params["metadata"], "metadata");
  const body = bodyOf(metadata["extra_body"]);
  const extraBody = dumps(copyWith(body, { seed }));
  return copyWith(row, {
    responses_create_params: copyWith(params, { metadata: copyWith(metadata, { extra_body: extraBody }) }),
  });
}

function bodyOf(text: unknown): Row {
  if (text === undefined) return {};
  if (typeof text !== "string") throw unusable("'metadata.extra_body' is not a text");
  let body: unknown;
  try {
    body = loads(text, { allowNonFinite: true });
  } catch (error) {
    throw unusable(`'metadata.extra_body' is not JSON: ${errorMessage(error)}`);
  }
  return objectOr(body, "metadata.extra_body");
}

function objectOr(value: unknown, name: string): Row {
  if (value === undefined) return {};
  if (value !== null && typeof value === "object" && !Array.isArray(value)) return value as Row;
  throw unusable(`'${name}' is not an object`);
}

function unusable(problem: string): RolloutError {
  return new RolloutError("ROLLOUT_ROW_INVALID", `no seed can be added: ${problem}.`);
}
