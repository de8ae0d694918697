export interface SubStep {
  step_description_prompt: string;
  step_background: string;
  function_header: string;
  return_line: string;
}

const IMPORT = /^\s*(?:import .*|from .*\s+import\s+.*)/gm;

/** The first Python block of an answer, else its first block, else all of it; without imports, which the problem names. */
export function codeOf(text: string): string {
  const marker = ["```python", "```"].find((each) => text.includes(each));
  const code = marker === undefined ? text : (text.split(marker)[1] ?? "").split("```")[0];
  return (code ?? "").replace(IMPORT, "");
}

/** Parts of errors of inference servers that say that a request is too long. */
const TOO_LONG = [
  "Requested token count exceeds",
  "exceeds maximum input length",
  "should not exceed max_seq_len",
  "reduce the length of the input messages",
  "'max_completion_tokens' is too large",
  "max_tokens must be at least 1, got -",
];
export const isTooLong = (message: string) => TOO_LONG.some((part) => message.includes(part));

function described({ step_description_prompt, step_background }: SubStep, withBackground: boolean): string {
  return withBackground ? `${step_description_prompt}\n${step_background}` : step_description_prompt;
}

/** What a prompt says about the earlier steps and about the next one, and the code that the next one builds on. */
export function promptParts(
  steps: readonly SubStep[],
  next: number,
  { codes, withBackground }: { codes: readonly (string | null)[]; withBackground: boolean },
) {
  const earlier = steps.slice(0, next);
  const step = steps[next] as SubStep;
  return {
    problem_steps_str: earlier
      .map((each, index) => `${described(each, withBackground)}\n\n${codes[index] ?? ""}`)
      .join("\n\n------\n\n"),
    next_step_str: [described(step, withBackground), step.function_header, step.return_line].join("\n\n"),
    previous_code_str: codes.slice(0, next).join("\n"),
  };
}
