import { availableParallelism } from "node:os";
import { perServer, type ServerContext } from "nemo-gym";
import { AnswerChecker, type AnswerVerdict } from "nemo-gym/math";
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

/** Ends the threads of a server. */
export async function closeComparison(server: ServerContext<MathConfig>): Promise<void> {
  await checkerOf(server).close();
}

/** Of the parsed and the written form the one that equals a form of the expected answer, else the parsed one. */
function extractedAnswer({ gold, answer }: AnswerVerdict): string | null {
  const forms = [answer.parsed, answer.text].filter((form) => form !== null);
  return forms.find((form) => form === gold.parsed || form === gold.text) ?? forms[0] ?? null;
}
