import { z } from "zod";
import { HttpError } from "../../base/door.ts";
import { failure } from "../../base/failures.ts";
import type { JsonObject } from "../../base/python/json/door.ts";
import { maskMembers } from "../../wire/light-door.ts";
import type { Response, ResponseOutputItem, TokenInformation } from "../../wire/schemas/door.ts";
import { withoutTokens } from "../../wire/tokens/door.ts";
import { type Continuity, callsOf, classifyBoundary, classifyCalls } from "../../wire/tokens/light-door.ts";

/**
 * `token_drift` of an agent: what happens to a rollout in which the prompt of a call does not continue the previous
 * tokens. `fork` leaves the decision to the trainer, `mask` marks the sample, `truncate` removes the token lists after
 * the break, `strict` fails.
 */
export const tokenDrift = z.enum(["fork", "mask", "truncate", "strict"]).default("fork");
export type TokenDrift = z.infer<typeof tokenDrift>;

/**
 * The turn boundaries of a response, if some of them break the token sequence; undefined when none does, or without
 * token ids.
 */
export function driftOf(response: Response): Continuity["counts"] | undefined {
  if (!response.output.some((item) => item.prompt_token_ids !== undefined)) return undefined;
  const all = { extend: 0, fork: 0, lost: 0 };
  for (const segment of segmentsOf(response)) {
    const { counts } = classifyCalls(callsOf(segment));
    all.extend += counts.extend;
    all.fork += counts.fork;
    all.lost += counts.lost;
  }
  return all.fork + all.lost > 0 ? all : undefined;
}

/** The parts of an output between which an agent has shortened the history on purpose (`chunk_records`). */
function segmentsOf(response: Response): ResponseOutputItem[][] {
  const { output, chunk_records: records } = response as Response & { chunk_records?: unknown };
  const starts = (Array.isArray(records) ? records : [])
    .map((record) => (record as { output_start?: unknown } | null)?.output_start)
    .filter((start): start is number => Number.isInteger(start) && Number(start) > 0);
  return [0, ...starts].map((start, index) => output.slice(start, starts[index]));
}

/** The response that a verifier receives when the tokens drift. */
export function driftingResponse(
  response: Response,
  counts: Continuity["counts"],
  policy: TokenDrift,
): Response {
  if (policy === "strict") {
    const { extend, fork, lost } = counts;
    const message = `The tokens of the rollout drift: ${extend} turns extend what was before, ${fork} fork, ${lost} lost their ids (token_drift: strict).`;
    throw new HttpError(422, message, {
      failure: failure("token_drift", message, { stage: "run" }),
    });
  }
  return policy === "truncate"
    ? { ...response, output: segmentsOf(response).flatMap(withoutDriftedTokens) }
    : response;
}

/** Adds the counts of turn boundaries to the result, and masks it under `mask`. */
export function driftingResult(
  result: JsonObject,
  counts: Continuity["counts"],
  policy: TokenDrift,
): JsonObject {
  return { ...result, ...(policy === "mask" && maskMembers(result)), _ng_turn_boundaries: counts };
}

function withoutDriftedTokens(output: readonly ResponseOutputItem[]): ResponseOutputItem[] {
  let previous: Partial<TokenInformation> | undefined;
  let drifted = false;
  return output.map((item) => {
    if (item.prompt_token_ids === undefined) return item;
    drifted ||= previous !== undefined && classifyBoundary(tokens(previous), tokens(item)).kind !== "extend";
    previous = item;
    return drifted ? withoutTokens(item) : item;
  });
}

function tokens(item: Partial<TokenInformation>) {
  const { prompt_token_ids = [], generation_token_ids = [] } = item;
  return { prompt_token_ids, generation_token_ids };
}
