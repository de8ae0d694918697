import { createJudge, judgeConfig, type ServerContext } from "nemo-gym";
import { laxBool, outputText } from "nemo-gym/openai";
import { codePointLength } from "nemo-gym/python";
import { z } from "zod";
import { boxedScore } from "./answer.ts";

/** The config keys of servers whose judge scores proofs with 0, 0.5 or 1. */
export const proofGraderConfig = {
  ...judgeConfig,
  /** The model named in requests; default: the name of the judge's server. */
  judge_model_name: z.string().default(""),
  temperature: z.number().default(0.6),
  top_p: z.number().default(0.95),
  max_tokens: z.number().int().positive().default(100_000),
  /** An answer without `</think>` earns 0. */
  assert_think_end: laxBool().default(false),
};
const Config = z.object(proofGraderConfig);

export type ProofGrader = ReturnType<typeof createProofGrader>;

/** A judge whose reply ends with a boxed score; a reply without one counts as 0. */
export function createProofGrader(server: ServerContext<z.output<typeof Config>>) {
  const { config } = server;
  const judge = createJudge(server, config, {
    params: {
      ...config.judge_responses_create_params,
      model: config.judge_model_name || config.judge_model_server,
      temperature: config.temperature,
      top_p: config.top_p,
      max_output_tokens: config.max_tokens,
    },
  });
  return {
    fit: (text: string) => judge.fit(text),
    async score(prompt: string, signal: AbortSignal): Promise<number> {
      const { verdict } = await judge.ask(prompt, {
        signal,
        parse: (_, reply) => boxedScore(outputText(reply)),
      });
      return verdict ?? 0;
    },
  };
}

const MAX_PROOF = 40_000;
const MAX_EVALUATION = 20_000;

/** Whether a proof and its evaluation are short enough to be judged. */
export function fitsLimits(proof: string, evaluation: string): boolean {
  return codePointLength(proof) <= MAX_PROOF && codePointLength(evaluation) <= MAX_EVALUATION;
}
