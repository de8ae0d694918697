import { compilePyRegex, RegexBudgetError, strip } from "nemo-gym/python";

const ANSWER = String.raw`Answer:\s*(.*)\s*Confidence:`;

/** Without a judge the last line `Answer: …` before `Confidence:` must be the answer. */
export function compareAnswer(text: string, truth: string) {
  const answer = strip(lastAnswer(text));
  return {
    reward: answer === truth ? 1 : 0,
    judge_response_create_params: { input: [] },
    reasoning: `Regex match for '${truth}': ${answer === truth ? "found" : "not found"}`,
    extracted_final_answer: answer,
    judge_response: null,
  };
}

function lastAnswer(text: string): string {
  try {
    return compilePyRegex(ANSWER, { ignoreCase: true }).findall(text).at(-1) ?? "";
  } catch (error) {
    if (error instanceof RegexBudgetError) return "";
    throw error;
  }
}
