import type { ServerContext } from "nemo-gym";
import {
  type Boundary,
  type CallTokens,
  type ChatCompletion,
  type ChatMessage,
  classifyBoundary,
} from "nemo-gym/openai";

const EXAMPLES_KEPT = 20;

/** A turn whose prompt does not continue the previous turn. */
export interface Discontinuity {
  rollout: string | null;
  kind: "fork" | "lost";
  /** Number of equal leading tokens. */
  agreeing?: number;
  departs_in?: "prompt" | "generation";
}

/**
 * Checks that every prompt continues the previous tokens of the conversation. Only then do the log probabilities of earlier turns
 * belong to the text that is trained on.
 */
export class ContinuityCounter {
  readonly #log: ServerContext["log"];
  readonly #counts: Record<Boundary["kind"], number> = { extend: 0, fork: 0, lost: 0 };
  readonly #examples: Discontinuity[] = [];

  constructor(log: ServerContext["log"]) {
    this.#log = log;
  }

  /** Compares a response with the last assistant turn in its history. */
  count(history: readonly ChatMessage[], completion: ChatCompletion, rolloutId: string | undefined): void {
    const last = history.findLast((message) => message.role === "assistant");
    if (last === undefined) return;
    const boundary = classifyBoundary(tokensOf(last), tokensOf(completion.choices[0]?.message));
    this.#counts[boundary.kind]++;
    if (boundary.kind === "extend") return;
    const found: Discontinuity = {
      rollout: rolloutId ?? null,
      kind: boundary.kind,
      ...(boundary.kind === "fork" && { agreeing: boundary.agreeing, departs_in: boundary.departsIn }),
    };
    if (this.#examples.length < EXAMPLES_KEPT) this.#examples.push(found);
    if (this.#counts.fork + this.#counts.lost === 1) this.#log.warn(describe(found));
  }

  /** The counts so far and the first exceptions. */
  report(): { boundaries: Record<Boundary["kind"], number>; examples: Discontinuity[] } {
    return { boundaries: { ...this.#counts }, examples: [...this.#examples] };
  }

  /** Logs the counts at the end. */
  summarize(): void {
    const { extend, fork, lost } = this.#counts;
    if (extend + fork + lost === 0) return;
    const text = `turn boundaries: ${extend} extended exactly, ${fork} forked, ${lost} lost`;
    if (fork + lost > 0) this.#log.warn(text);
    else this.#log.info(text);
  }
}

function describe({ rollout, kind, agreeing, departs_in }: Discontinuity): string {
  const where = rollout === null ? "a conversation" : `rollout ${rollout}`;
  return kind === "lost"
    ? `${where}: the token ids of the turn before are not known, so it cannot be told whether the prompt continues them`
    : `${where}: the prompt departs from the turn before after ${agreeing} tokens, in its ${departs_in}; further cases are only counted (GET /token_continuity)`;
}

function tokensOf(message: object | undefined): CallTokens | undefined {
  const { prompt_token_ids, generation_token_ids } = (message ?? {}) as Partial<CallTokens>;
  return prompt_token_ids && generation_token_ids ? { prompt_token_ids, generation_token_ids } : undefined;
}
