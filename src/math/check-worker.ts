import { type AnswerVerdict, type VerifyOptions, verifyAnswer } from "./verify-answer.ts";

export interface CheckTask {
  readonly gold: string;
  readonly text: string;
  readonly options: VerifyOptions;
}

/** Compares one pair in a worker thread. */
export default function check({ gold, text, options }: CheckTask): AnswerVerdict {
  return verifyAnswer(gold, text, options);
}
