import type { TokenSequence } from "./token-sequences.ts";

/** Data of a rollout that a trainer needs besides its tokens. */
export interface SequenceContext {
  reward: number;
  environment: string;
  temperature: number;
  /** Why the last call of the sequence ended. */
  stopReason: string;
}

type Projection = (sequence: TokenSequence, context: SequenceContext) => Record<string, unknown>;

/**
 * One training sequence in the form each trainer reads; docs/reference/exports.md has the fields. Log-probabilities and rewards are
 * written as floats by the writer of exports.
 */
export const TOKEN_PROJECTIONS = {
  /** What `rollout_func` of GRPOTrainer returns per completion. */
  trl: ({ prompt_ids, completion_ids, logprobs, mask }, { reward }) => ({
    prompt_ids,
    completion_ids,
    logprobs,
    env_mask: mask,
    reward,
  }),
  /** Fields of `AgentLoopOutput`. */
  verl: ({ prompt_ids, completion_ids, logprobs, mask, calls }, { reward }) => ({
    prompt_ids,
    response_ids: completion_ids,
    response_mask: mask,
    response_logprobs: logprobs,
    reward_score: reward,
    num_turns: calls,
  }),
  /** The message log: what was generated is `assistant`, everything else `user`. */
  "nemo-rl": (sequence, { reward }) => ({ message_log: messageLog(sequence), reward }),
  /** One element of every list of `GeneratorOutput`. */
  skyrl: ({ prompt_ids, completion_ids, logprobs, mask }, { reward, stopReason }) => ({
    prompt_token_ids: prompt_ids,
    response_ids: completion_ids,
    rewards: reward,
    loss_masks: mask,
    stop_reasons: stopReason,
    rollout_logprobs: logprobs,
  }),
  /** A `TrainingSample`: one flat sequence. */
  "prime-rl": ({ prompt_ids, completion_ids, logprobs, mask }, { reward, environment, temperature }) => ({
    token_ids: [...prompt_ids, ...completion_ids],
    mask: [...prompt_ids.map(() => false), ...mask.map(Boolean)],
    logprobs: [...prompt_ids.map(() => 0), ...logprobs],
    temperatures: [...prompt_ids, ...completion_ids].map(() => temperature),
    env_name: environment,
    reward,
  }),
} as const satisfies Record<string, Projection>;

export type TokenFormat = keyof typeof TOKEN_PROJECTIONS;

interface LoggedMessage {
  role: "user" | "assistant";
  token_ids: number[];
  generation_logprobs?: number[];
}

function messageLog({ prompt_ids, completion_ids, logprobs, mask }: TokenSequence): LoggedMessage[] {
  const log: LoggedMessage[] = [{ role: "user", token_ids: [...prompt_ids] }];
  for (const [index, id] of completion_ids.entries()) {
    const role = mask[index] === 1 ? "assistant" : "user";
    let last = log.at(-1);
    if (last?.role !== role) {
      last =
        role === "assistant" ? { role, token_ids: [], generation_logprobs: [] } : { role, token_ids: [] };
      log.push(last);
    }
    last.token_ids.push(id);
    last.generation_logprobs?.push(logprobs[index] ?? 0);
  }
  return log;
}
