import {
  type Evaluation,
  PreparedEvaluation,
  type PrepareEvaluationOptions,
  type RunEvaluationOptions,
} from "../../src/run/prepared-evaluation.ts";

type Options = Omit<PrepareEvaluationOptions, "onEvent"> &
  Partial<Pick<PrepareEvaluationOptions, "onEvent">> &
  RunEvaluationOptions;

/** Prepares an evaluation and runs it on servers that have started. */
export async function evaluate(options: Options): Promise<Evaluation> {
  const prepared = await PreparedEvaluation.open({ onEvent: () => {}, ...options });
  try {
    return await prepared.run(options);
  } finally {
    await prepared.close();
  }
}
