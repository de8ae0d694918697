import { type Judge, JudgeError, sleep } from "nemo-gym";
import { lastPartOfLastMessage } from "nemo-gym/verify";
import { readVerdict } from "./answer.ts";

const CALLS = 15;
const MAX_WAIT_SECONDS = 120;

/** A reply that ends with something else than a message is not asked for again. */
class UnreadableReply extends JudgeError {}

/** Asks until there is a verdict. Waits after calls that failed. */
export async function askJudge(judge: Judge, prompt: string, delayFactor: number, signal: AbortSignal) {
  let failure = new JudgeError("The judge was not asked.");
  let wait = 1;
  let isAnswered = false;
  for (let call = 1; call <= CALLS; call++) {
    try {
      const reply = await judge.ask(prompt, {
        signal,
        parse(_, { output }) {
          if (output.length === 0) throw new JudgeError("The judge answered without output.");
          const last = lastPartOfLastMessage({ output });
          if (last === null)
            throw new UnreadableReply("The last item of the judge's reply is not a message.");
          return readVerdict(last, prompt);
        },
      });
      if (reply.verdict)
        return {
          reward: reply.verdict.isCorrect,
          reasoning: reply.verdict.text,
          extracted_final_answer: reply.verdict.answer,
          judge_response: reply.response,
          judge_response_create_params: reply.params,
        };
      isAnswered = true;
      failure = new JudgeError("The judge answered without a verdict.");
    } catch (error) {
      if (!(error instanceof JudgeError) || error instanceof UnreadableReply) throw error;
      failure = error;
      if (call < CALLS) await sleep(wait * 1000 * delayFactor, signal);
      wait = Math.min(2 * wait, MAX_WAIT_SECONDS);
    }
  }
  if (!isAnswered) throw failure;
  // It answered, but never with a verdict: nobody knows whether the answer is right.
  return {
    ...{ reward: 0, reasoning: "", extracted_final_answer: "", judge_response: null },
    ...{ _ng_failure_class: "judge_failed", _ng_failure_judge_error: failure.message },
  };
}
