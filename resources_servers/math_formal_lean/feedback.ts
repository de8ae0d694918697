import { strip } from "nemo-gym/python";
import type { LeanOutput } from "./lean-service.ts";

const MAX_ERRORS = 8;
const MAX_RAW = 2000;
const LINES_BEFORE = 4;
const POSITION = /\/lean4\/my_project\/[^\s:]*:(\d+):(\d+): error:/g;
const NEXT_POSITION = /\/lean4\/my_project\//;

export const EMPTY = "The answer contains no proof.";

/** What a model needs to know to correct its proof. */
export function feedbackOf(status: string, { stdout, stderr }: LeanOutput, proof: string): string {
  if (status === "timeout")
    return "The proof was not checked within the time limit. Use steps that take less time.";
  const found = errorsOf(stderr);
  if (found.length > 0) {
    const shown = found
      .slice(0, MAX_ERRORS)
      .map((error, index) => describe(error, index + 1, proof.split("\n")));
    const omitted = found.length - MAX_ERRORS;
    return shown.join("") + (omitted > 0 ? `\n... [${omitted} further errors omitted]\n` : "");
  }
  if (strip(stdout) === "" && strip(stderr) === "")
    return "The proof was not accepted, and the compiler gave no reason.";
  return `Compilation output:\n${`${stdout}\n${stderr}`.slice(0, MAX_RAW)}`;
}

interface CompilerError {
  line: number;
  column: number;
  message: string;
}

function errorsOf(stderr: string): CompilerError[] {
  return [...stderr.matchAll(POSITION)].map((match) => {
    const rest = stderr.slice(match.index + match[0].length);
    const end = rest.search(NEXT_POSITION);
    const text = end < 0 ? rest : rest.slice(0, end);
    return {
      line: Number(match[1]),
      column: Number(match[2]),
      message: strip(text.split("error:")[0] ?? ""),
    };
  });
}

/** The error with the lines around it; nothing if its line is not in the proof. */
function describe(
  { line, column, message }: CompilerError,
  number: number,
  lines: readonly string[],
): string {
  const faulty = lines[line - 1];
  if (faulty === undefined) return "";
  const marked = `${faulty.slice(0, column)}<error>${faulty.slice(column)}</error>`;
  const shown = [
    ...lines.slice(Math.max(0, line - 1 - LINES_BEFORE), line - 1),
    marked,
    ...lines.slice(line, line + 1),
  ];
  const code = shown.map((text) => `${text}\n`).join("");
  return `\nError ${number}:\n\nCorresponding Code:\n\`\`\`lean4\n${code}\n\`\`\`\n\nError Message: ${message}\n`;
}
