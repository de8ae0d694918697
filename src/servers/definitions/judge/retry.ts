import { JudgeError } from "../../../base/door.ts";
import { sleep } from "../../../base/transport/light-door.ts";

export interface RetryJudgeOptions {
  /** Number of calls at most. */
  attempts: number;
  /** Time between two calls, in seconds, after the 1st, 2nd, … call. */
  delay(attempt: number): number;
  /** Whether a failure may go away; default: every one. */
  mayRetry?(error: JudgeError): boolean;
  signal: AbortSignal;
}

/**
 * Asks a judge again if it fails or, because the caller throws a `JudgeError`, if its reply is not usable. The last failure is
 * thrown.
 */
export async function retryJudge<Reply>(
  ask: () => Promise<Reply>,
  { attempts, delay, mayRetry = () => true, signal }: RetryJudgeOptions,
): Promise<{ reply: Reply; attempt: number }> {
  for (let attempt = 1; ; attempt++) {
    try {
      return { reply: await ask(), attempt };
    } catch (error) {
      if (!(error instanceof JudgeError) || attempt >= attempts || !mayRetry(error)) throw error;
      await sleep(delay(attempt) * 1000, signal);
    }
  }
}
