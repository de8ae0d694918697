import { isGenerated } from "../read-output.ts";
import type { ResponseOutputItem } from "../schemas/item-types.ts";

/** The token ids of one model call. */
export interface CallTokens {
  readonly prompt_token_ids: readonly number[];
  readonly generation_token_ids: readonly number[];
  readonly generation_log_probs?: readonly number[];
}

/**
 * How the prompt of a call relates to the previous call. It continues the tokens exactly (`extend`), it differs after
 * `agreeing` tokens in the previous prompt or generation (`fork`), or the ids are missing (`lost`).
 */
export type Boundary =
  | { kind: "extend" }
  | { kind: "fork"; agreeing: number; departsIn: "prompt" | "generation" }
  | { kind: "lost" };

/** Classifies the boundary between two consecutive calls. Undefined is a call with unknown ids. */
export function classifyBoundary(previous: CallTokens | undefined, next: CallTokens | undefined): Boundary {
  if (previous === undefined || next === undefined) return { kind: "lost" };
  const { prompt_token_ids: prompt, generation_token_ids: generation } = previous;
  const inPrompt = agreement(next.prompt_token_ids, 0, prompt);
  if (inPrompt < prompt.length) return { kind: "fork", agreeing: inPrompt, departsIn: "prompt" };
  const inGeneration = agreement(next.prompt_token_ids, prompt.length, generation);
  if (inGeneration < generation.length) {
    return { kind: "fork", agreeing: inPrompt + inGeneration, departsIn: "generation" };
  }
  return { kind: "extend" };
}

/** Number of leading ids of `expected` that are equal to `ids` from `offset` on. */
function agreement(ids: readonly number[], offset: number, expected: readonly number[]): number {
  let count = 0;
  while (count < expected.length && ids[offset + count] === expected[count]) count++;
  return count;
}

/** The boundaries of a rollout, and their number by kind. */
export interface Continuity {
  boundaries: Boundary[];
  counts: Record<Boundary["kind"], number>;
}

/** Classifies all boundaries between the calls of a rollout. */
export function classifyCalls(calls: readonly (CallTokens | undefined)[]): Continuity {
  const counts = { extend: 0, fork: 0, lost: 0 };
  const boundaries: Boundary[] = [];
  for (let index = 1; index < calls.length; index++) {
    const boundary = classifyBoundary(calls[index - 1], calls[index]);
    counts[boundary.kind]++;
    boundaries.push(boundary);
  }
  return { boundaries, counts };
}

/** A model call of a trajectory: its tokens, undefined if they are lost, and the index of its last item. */
export interface PlacedCall {
  tokens: CallTokens | undefined;
  place: number;
}

/**
 * The model calls of a trajectory, in order. The last item of a call has the token ids, so each item with ids ends a
 * call. Generated items without ids before the output of a tool are a call whose ids are lost.
 */
export function placedCallsOf(output: readonly ResponseOutputItem[]): PlacedCall[] {
  const calls: PlacedCall[] = [];
  let open: number | undefined;
  const close = () => {
    if (open !== undefined) calls.push({ tokens: undefined, place: open });
    open = undefined;
  };
  for (const [place, item] of output.entries()) {
    const { prompt_token_ids, generation_token_ids, generation_log_probs } = item;
    if (prompt_token_ids !== undefined && generation_token_ids !== undefined) {
      calls.push({
        tokens: {
          prompt_token_ids,
          generation_token_ids,
          ...(generation_log_probs && { generation_log_probs }),
        },
        place,
      });
      open = undefined;
    } else if (isGenerated(item)) open = place;
    else close();
  }
  close();
  return calls;
}

/** The tokens of the model calls of a trajectory, in order. */
export function callsOf(output: readonly ResponseOutputItem[]): (CallTokens | undefined)[] {
  return placedCallsOf(output).map(({ tokens }) => tokens);
}
