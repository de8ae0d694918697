import { availableParallelism } from "node:os";
import { perServer, type ServerContext } from "nemo-gym";
import { AnswerChecker, type AnswerVerdict } from "nemo-gym/math";
import { outputText } from "nemo-gym/openai";
import type { MathConfig } from "./config.ts";

export interface Comparison {
  library_reward: number;
  /** The answer found in the reply, in SymPy's notation if it could be parsed. */
  extracted_answer: string | null;
}

const checkerOf = perServer(
  ({ config }: ServerContext<MathConfig>) =>
    new AnswerChecker({
      mode: config.answer_comparison,
      timeoutMs: config.library_verifier_timeout_seconds * 1000,
      maxThreads: Math.min(config.library_verifier_max_concurrency, Math.max(1, availableParallelism() - 1)),
    }),
);

/** Compares the reply of a model with the expected answer. */
export async function compareAnswer(
  server: ServerContext<MathConfig>,
  expected: string,
  reply: string,
  signal: AbortSignal,
): Promise<Comparison> {
  const verdict = await checkerOf(server).check(expected, reply, signal);
  return { library_reward: verdict.equal ? 1 : 0, extracted_answer: extractedAnswer(verdict) };
}

export interface AnswerArgs {
  config: Pick<MathConfig, "should_use_judge">;
  server: ServerContext<MathConfig>;
  signal: AbortSignal;
  row: { expected_answer: string };
  response: Parameters<typeof outputText>[0];
}

/** Scores an answer by comparison. If it differs, `judge` decides, unless the config disables the judge. */
export async function verifyAnswer<Evaluation>(
  { config, server, signal, row, response }: AnswerArgs,
  judge: (reply: string, compared: Comparison) => Promise<{ correct: boolean; evaluations: Evaluation[] }>,
) {
  const reply = outputText(response);
  const compared = await compareAnswer(server, row.expected_answer, reply, signal);
  if (compared.library_reward > 0.5 || !config.should_use_judge)
    return { reward: compared.library_reward, ...compared, judge_evaluations: null };
  const { correct, evaluations } = await judge(reply, compared);
  return { reward: correct ? 1 : 0, ...compared, judge_evaluations: evaluations };
}

/** Stops the threads of a server. */
export async function closeComparison(server: ServerContext<MathConfig>): Promise<void> {
  await checkerOf(server).close();
}

/** The parsed or the written form of the answer, whichever equals a form of the expected answer; else the parsed form. */
function extractedAnswer({ gold, answer }: AnswerVerdict): string | null {
  const forms = [answer.parsed, answer.text].filter((form) => form !== null);
  return forms.find((form) => form === gold.parsed || form === gold.text) ?? forms[0] ?? null;
}
