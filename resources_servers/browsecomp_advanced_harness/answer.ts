import { compilePyRegex, RegexBudgetError, strip } from "nemo-gym/python";

const ANSWER = String.raw`Answer:\s*(.*)\s*Confidence:`;

/** Without a judge the last `Answer: …` before `Confidence:` must be the right one. */
export function compareAnswer(text: string, truth: string) {
  const answer = strip(lastAnswer(text));
  return {
    reward: answer === truth,
    reasoning: `Regex match for '${truth}': ${answer === truth ? "found" : "not found"}`,
    extracted_final_answer: answer,
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

/** The last verdict of a judge. A line that the prompt has too was copied from it and is not a verdict. */
export function readVerdict(text: string, prompt: string) {
  const verdict = [...text.matchAll(/correct:\s*(yes|no)\b[^\n]*/gi)].at(-1);
  if (!verdict) return null;
  const isCopied =
    /^\s*or\b/i.test(verdict[0].replace(/^correct:\s*(?:yes|no)/i, "")) && prompt.includes(strip(verdict[0]));
  if (isCopied) return null;
  const answers = [...text.matchAll(/extracted_final_answer:[ \t]*([^\n]*)/gi)];
  return { isCorrect: verdict[1]?.toLowerCase() === "yes", answer: strip(answers.at(-1)?.[1] ?? ""), text };
}
