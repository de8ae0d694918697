import { ownUsage, type Usage } from "./usage.ts";

/** A detail that was unknown in one turn stays unknown in the sum. */
const addKnown = (left: number | null | undefined, right: number | null | undefined): number | null =>
  left == null || right == null ? null : left + right;

/** The usage after one more turn; a turn without usage changes nothing. */
export function accumulateUsage(total: Usage | null, turn: Usage | null | undefined): Usage | null {
  if (turn == null) return total;
  if (total === null) {
    return {
      ...turn,
      input_tokens_details: {
        ...turn.input_tokens_details,
        cached_tokens: turn.input_tokens_details?.cached_tokens ?? null,
      },
      output_tokens_details: {
        ...turn.output_tokens_details,
        reasoning_tokens: turn.output_tokens_details?.reasoning_tokens ?? null,
      },
    };
  }
  return {
    ...total,
    input_tokens: total.input_tokens + turn.input_tokens,
    input_tokens_details: {
      ...total.input_tokens_details,
      cached_tokens: addKnown(
        total.input_tokens_details.cached_tokens,
        turn.input_tokens_details?.cached_tokens,
      ),
    },
    output_tokens: total.output_tokens + turn.output_tokens,
    output_tokens_details: {
      ...total.output_tokens_details,
      reasoning_tokens: addKnown(
        total.output_tokens_details.reasoning_tokens,
        turn.output_tokens_details?.reasoning_tokens,
      ),
    },
    total_tokens: total.total_tokens + turn.total_tokens,
    ...ownUsage(total, turn),
  };
}

const NOTHING: Usage = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
};

/** The usage of several turns together; zeros for none. */
export function sumUsage(turns: Iterable<Usage>): Usage {
  let total = NOTHING;
  for (const turn of turns) total = accumulateUsage(total, turn) ?? total;
  return total === NOTHING ? structuredClone(NOTHING) : total;
}
