import type { JsonObject } from "nemo-gym";
import { ProviderError } from "nemo-gym/models";
import { z } from "zod";

/** A request for the log probabilities of texts: `/v1/completions` with `echo`. */
export const EchoRequest = z.looseObject({ prompt: z.array(z.string()).min(1).max(256) });

const Choice = z.looseObject({
  index: z.number().int(),
  logprobs: z.looseObject({
    tokens: z.array(z.string()),
    token_logprobs: z.array(z.number().nullable()),
    top_logprobs: z.array(z.record(z.string(), z.number()).nullable()).nullish(),
    text_offset: z.array(z.number().int()).nullish(),
  }),
});

/** The body for `/completions`: the log probabilities of the prompt and nothing else. */
export function echoBody(prompt: readonly string[], model: string): JsonObject {
  return { model, prompt, max_tokens: 1, temperature: 0, echo: true, logprobs: 1 };
}

/** Checks that an engine echoed every prompt with its log probabilities. */
export function readEchoed(answer: unknown, prompts: readonly string[], hosts: string): JsonObject {
  const choices = z.looseObject({ choices: z.array(Choice) }).safeParse(answer);
  if (!choices.success) throw notEchoed(hosts, "the answer has no log probabilities of tokens");
  const sorted = [...choices.data.choices].sort((a, b) => a.index - b.index);
  if (sorted.length !== prompts.length)
    throw notEchoed(hosts, `there are ${sorted.length} answers for ${prompts.length} texts`);
  for (const [index, { logprobs }] of sorted.entries()) {
    const { tokens, token_logprobs: values } = logprobs;
    if (tokens.length !== values.length)
      throw notEchoed(hosts, "tokens and log probabilities differ in number");
    // The first token has no log probability, because nothing is before it.
    if (values.slice(1).includes(null)) throw notEchoed(hosts, "tokens have no log probability");
    if (tokens.length < 2 && (prompts[index] ?? "").length > 1)
      throw notEchoed(hosts, "the tokens of the prompt are missing");
  }
  return { choices: sorted };
}

function notEchoed(hosts: string, problem: string): ProviderError {
  return new ProviderError({
    class: "invalid_response",
    retryable: false,
    message:
      `200 from ${hosts}, but ${problem}: it does not support /completions with echo and logprobs, ` +
      "which log-likelihood scoring needs (vLLM does)",
  });
}
