import { JudgeError } from "nemo-gym";
import { parseArguments } from "nemo-gym/openai";

export interface Verdict {
  verdict: "PASS" | "FAIL";
  explanation: string;
}

const FENCED = /```(?:json)?\s*(\{.*?\})\s*```/s;
const INLINE = /\{[^{}]*"result"\s*:\s*"(?:PASS|FAIL)"[^{}]*\}/i;
/** Without JSON, the verdict is looked for in so many lines at the end. */
const LAST_LINES = 5;

/** The verdict in a judge's reply: a JSON object in a code fence or in the text, else a word in the last lines, where PASS takes precedence. */
export function readVerdict(text: string): Verdict | null {
  return (
    readObject(FENCED.exec(text)?.[1]) ?? readObject(INLINE.exec(text)?.[0]) ?? readLines(text.split("\n"))
  );
}

function readObject(json: string | undefined): Verdict | null {
  const parsed = json === undefined ? undefined : parseArguments(json);
  if (!parsed?.ok) return null;
  const { result, explanation = "" } = parsed.value;
  const verdict = typeof result === "string" ? result.toUpperCase().trim() : "";
  if (verdict !== "PASS" && verdict !== "FAIL") return null;
  if (typeof explanation !== "string") throw new JudgeError("The judge's explanation is not a text.");
  return { verdict, explanation };
}

function readLines(lines: readonly string[]): Verdict | null {
  for (const line of lines.slice(-LAST_LINES).reverse()) {
    const found = (["PASS", "FAIL"] as const).find((word) => line.toUpperCase().includes(word));
    if (found) return { verdict: found, explanation: "" };
  }
  return null;
}
