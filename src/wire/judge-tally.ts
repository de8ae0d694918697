/** What the judges of one verification were asked and answered: `_ng_judge` of a result. */
export interface JudgeTally {
  calls: number;
  input_tokens: number;
  output_tokens: number;
  /** Replies without a verdict that could be read. */
  unreadable: number;
}

export function emptyJudgeTally(): JudgeTally {
  return { calls: 0, input_tokens: 0, output_tokens: 0, unreadable: 0 };
}
