import { GymError } from "../../base/errors.ts";
import type { Usage } from "../../wire/convert/door.ts";
import type { Response, ResponseCreateParams } from "../../wire/schemas/door.ts";

/** `max_tokens_per_rollout`: input and output tokens that the model calls of one rollout may use together. */
export class TokenBudget {
  readonly #limit: number | null;

  private constructor(limit: number | null) {
    this.#limit = limit;
  }

  static of(globalConfig: Readonly<Record<string, unknown>>): TokenBudget {
    const given = globalConfig["max_tokens_per_rollout"] ?? null;
    const limit = typeof given === "string" ? Number(given) : given;
    if (limit === null || (Number.isInteger(limit) && (limit as number) >= 1))
      return new TokenBudget(limit as number | null);
    throw new GymError(
      "SERVER_CONFIG",
      `max_tokens_per_rollout must be a whole number of at least 1, not ${JSON.stringify(given)}.`,
    );
  }

  /** The request of the next call, which may not generate more than what is left. */
  limited(params: ResponseCreateParams, usage: Usage | null): ResponseCreateParams {
    if (this.#limit === null) return params;
    const left = Math.max(1, this.#limit - (usage?.total_tokens ?? 0));
    return { ...params, max_output_tokens: Math.min(params.max_output_tokens ?? left, left) };
  }

  isSpent(usage: Usage | null): boolean {
    return this.#limit !== null && (usage?.total_tokens ?? 0) >= this.#limit;
  }

  /** The response of a rollout that its budget ended. */
  ended<T extends Response>(response: T, usage: Usage | null): T {
    const note = `the rollout used ${usage?.total_tokens} of ${this.#limit} tokens (max_tokens_per_rollout)`;
    const metadata = {
      ...response.metadata,
      ng_termination_reason: "max_tokens_per_rollout",
      ng_termination_message: note,
    };
    return { ...response, status: "incomplete", metadata };
  }
}
