import { HttpError, type JsonObject } from "nemo-gym";
import { codePointLength } from "nemo-gym/python";

/** A text whose log probability is asked for, and what stands before it. */
export interface Part {
  readonly context: string;
  readonly continuation: string;
}

/** Tokens of an echoed prompt, and of the one token that follows it. */
export interface Echoed {
  readonly tokens: readonly string[];
  readonly token_logprobs: readonly (number | null)[];
  readonly top_logprobs?: readonly (Readonly<Record<string, number>> | null)[] | null;
  readonly text_offset?: readonly number[] | null;
}

export interface Score {
  readonly logprob: number;
  /** Whether greedy decoding would have written the continuation. */
  readonly greedy: boolean;
  readonly tokens: number;
  /** Tokens without a log probability: the first one of a text with nothing before it. */
  readonly unscored: number;
}

/** The texts of a row: one for each choice, a continuation, or a whole text. */
export function partsOf(row: JsonObject, prefix: string): Part[] {
  const { output_type: type, context, contexts, continuations, continuation, text } = row;
  const before = (given: unknown) => (given === undefined || given === "" ? prefix : String(given));
  switch (type) {
    case "multiple_choice":
      return (continuations as string[]).map((end, index) => ({
        context: before(Array.isArray(contexts) ? contexts[index] : context),
        continuation: end,
      }));
    case "loglikelihood":
      return [{ context: before(context), continuation: String(continuation) }];
    case "loglikelihood_rolling":
      return [{ context: prefix, continuation: String(text) }];
    default:
      throw new HttpError(
        422,
        `loglikelihood_agent: the output_type '${String(type)}' has no texts to score`,
      );
  }
}

/** The sum over the tokens of the continuation. As in lm-eval, blanks at the end of the context belong to it. */
export function scoreText({ context, continuation }: Part, echoed: Echoed | undefined): Score {
  if (echoed === undefined) throw new HttpError(502, "loglikelihood_agent: a text has no answer");
  const start = codePointLength(context.trimEnd());
  const end = codePointLength(context + continuation);
  const offsets = echoed.text_offset ?? offsetsOf(echoed.tokens);
  const scored: { logprob: number | null; greedy: boolean }[] = [];
  for (const [index, token] of echoed.tokens.entries()) {
    const from = offsets[index] ?? 0;
    // The token that the engine generated follows the text.
    if (from >= end || (from + codePointLength(token) <= start && start > 0)) continue;
    scored.push({
      logprob: echoed.token_logprobs[index] ?? null,
      greedy: isLikeliest(token, echoed.top_logprobs?.[index]),
    });
  }
  const known = scored.flatMap(({ logprob }) => logprob ?? []);
  if (known.length === 0)
    throw new HttpError(
      422,
      "loglikelihood_agent: the text has no token with a log probability; set the prefix of the agent to the end-of-text token of the model",
    );
  return {
    logprob: known.reduce((sum, logprob) => sum + logprob, 0),
    greedy: scored.every(({ logprob, greedy }) => logprob === null || greedy),
    tokens: known.length,
    unscored: scored.length - known.length,
  };
}

function offsetsOf(tokens: readonly string[]): number[] {
  let at = 0;
  return tokens.map((token) => {
    const from = at;
    at += codePointLength(token);
    return from;
  });
}

function isLikeliest(token: string, top: Readonly<Record<string, number>> | null | undefined): boolean {
  if (top === null || top === undefined) return false;
  const [best] = Object.entries(top).sort((a, b) => b[1] - a[1]);
  return best?.[0] === token;
}
