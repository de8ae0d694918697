import { availableParallelism } from "node:os";
import { perServer, type ServerContext } from "nemo-gym";
import { AnswerChecker, type AnswerVerdict } from "nemo-gym/math";
import { outputText } from "nemo-gym/openai";
import type { MathConfig } from "./config.ts";

export interface Comparison {
  library_reward: number;
  /** The answer found in the reply, in SymPy's notation where it could be read. */
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

/** Compares what a model replied with the expected answer. */
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

/** Scores an answer by comparison. Where it differs, `judge` decides, unless the config says that there is none. */
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

/** Ends the threads of a server. */
export async function closeComparison(server: ServerContext<MathConfig>): Promise<void> {
  await checkerOf(server).close();
}

/** Of the parsed and the written form the one that equals a form of the expected answer, else the parsed one. */
function extractedAnswer({ gold, answer }: AnswerVerdict): string | null {
  const forms = [answer.parsed, answer.text].filter((form) => form !== null);
  return forms.find((form) => form === gold.parsed || form === gold.text) ?? forms[0] ?? null;
}
