/** One step of the evaluation of a constraint. */
export interface Step {
  type: string;
  exec?: string | undefined;
}

/** What a pipeline calls. `ask` returns null if the judge gave no usable reply. */
export interface Actors {
  ask(prompt: string): Promise<string | null>;
  /** The value of a Python checker: a text, a truth value, or null if it has none. */
  check(code: string, value: string): Promise<string | boolean | null>;
}

export type Outcome = "true" | "false" | "skipped" | "error";

const SLOT = "{response}";

/** Evaluates a constraint: each step replaces the value, which begins with the answer. The last value is the verdict. */
export async function evaluate(steps: readonly Step[], answer: string, actors: Actors): Promise<Outcome> {
  let value: string | boolean | null = answer;
  for (const { type, exec = "" } of steps) {
    if (type === "llm_conditional_check") {
      const verdict = verdictOf((await actors.ask(promptOf(exec, answer))) ?? "");
      if (verdict === null) return "error";
      if (!verdict) return "skipped";
    } else if (type === "llm") {
      if (value === null) return "error";
      const reply: string | null = await actors.ask(
        promptOf(exec, typeof value === "string" ? value : pythonText(value)),
      );
      if (!reply) return "error";
      value = reply;
    } else if (type === "code") {
      value = typeof value === "string" && value !== "" ? await actors.check(exec, value) : null;
    }
  }
  const verdict = typeof value === "string" ? verdictOf(value) : value;
  if (verdict === null) return "error";
  return verdict ? "true" : "false";
}

/** Whether a text says YES or NO, in its last line or else as a whole; null if it says both or neither. */
export function verdictOf(text: string): boolean | null {
  const lastLine = text.split("\n").findLast((line) => line.trim() !== "") ?? "";
  return singleWord(lastLine) ?? singleWord(text);
}

function singleWord(text: string): boolean | null {
  const words = new Set(text.match(/(?<![\p{L}\p{N}_])(?:YES|NO)(?![\p{L}\p{N}_])/gu));
  return words.size === 1 ? words.has("YES") : null;
}

function promptOf(template: string, text: string): string {
  return template.includes(SLOT)
    ? template.replaceAll(SLOT, () => text)
    : `${template}\n\nHere is model response: ${text}`;
}

function pythonText(value: boolean): string {
  return value ? "True" : "False";
}
