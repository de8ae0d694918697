import { HttpError } from "nemo-gym";
import { codePointLength } from "nemo-gym/python";
import { z } from "zod";

const Choice = z.object({
  output_type: z.literal("multiple_choice"),
  context: z.string().optional(),
  /** One for each choice, where they differ. */
  contexts: z.array(z.string()).optional(),
  choices: z.array(z.string()).min(2),
  /** What the model is asked about: the choices with their delimiter. */
  continuations: z.array(z.string()).min(2),
  /** The number of the right choice from 0; several are equally right. */
  gold: z.union([z.number().int().min(0), z.array(z.number().int().min(0)).min(1)]),
});
const Continuation = z.object({
  output_type: z.literal("loglikelihood"),
  context: z.string(),
  continuation: z.string().min(1),
});
const Text = z.object({ output_type: z.literal("loglikelihood_rolling"), text: z.string().min(1) });

/** The three kinds of rows, as `gym dataset convert` makes them of tasks of lm-eval. */
export const Row = z.discriminatedUnion("output_type", [Choice, Continuation, Text]);
export type Row = z.output<typeof Row>;

interface TextScore {
  readonly logprob: number;
  readonly greedy: boolean;
  readonly unscored: number;
}

type Scored = { reward: number } & Record<string, unknown>;

/** The reward and the values of one row. */
export function scoreRow(row: Row, scores: readonly TextScore[]): Scored {
  const [first] = scores;
  if (first === undefined) throw new HttpError(422, "loglikelihood: the response has no scores");
  if (row.output_type === "multiple_choice") return scoreChoice(row, scores);
  const { logprob: loglikelihood, greedy, unscored } = first;
  if (row.output_type === "loglikelihood")
    return { reward: Number(greedy), acc: Number(greedy), loglikelihood, unscored_tokens: unscored };
  const bytes = Buffer.byteLength(row.text);
  const bits = -loglikelihood / bytes / Math.LN2;
  // Fewer bits are better, and a higher reward is.
  return { reward: -bits, loglikelihood, bytes, words: countWords(row.text), unscored_tokens: unscored };
}

function scoreChoice({ choices, gold }: z.output<typeof Choice>, scores: readonly TextScore[]): Scored {
  if (scores.length !== choices.length)
    throw new HttpError(
      422,
      `loglikelihood: there are ${scores.length} scores for ${choices.length} choices`,
    );
  const values = scores.map(({ logprob }) => logprob);
  const right = [gold].flat();
  const isRight = (lengths: readonly number[]) => {
    const best = largest(values.map((value, index) => value / (lengths[index] ?? 1)));
    return { best, hit: Number(right.includes(best)) };
  };
  const { best, hit } = isRight(choices.map(() => 1));
  return {
    reward: hit,
    acc: hit,
    acc_norm: isRight(choices.map(codePointLength)).hit,
    acc_bytes: isRight(choices.map((choice) => Buffer.byteLength(choice))).hit,
    exact_match: Number(right.some((index) => scores[index]?.greedy)),
    chosen: best,
    loglikelihoods: values,
  };
}

/** The first of the largest values. */
function largest(values: readonly number[]): number {
  return values.reduce((best, value, index) => (value > (values[best] ?? -Infinity) ? index : best), 0);
}

/** `len(re.split(r"\s+", text))`. */
function countWords(text: string): number {
  return text.split(/[\s\x1c-\x1f\x85]+/u).length;
}
