import { strip } from "nemo-gym/python";

/** Languages of code blocks, in the order in which they count. */
const LANGUAGES = ["lean4", "lean3", "lean", ""];

export interface ProofOptions {
  mode: string;
  restate: boolean;
  stripTheorem: boolean;
}

/** The program to compile: the statement of the task with the proof from the answer. */
export function buildProof(
  answer: string,
  task: { header: string; formal_statement: string },
  { mode, restate, stripTheorem }: ProofOptions,
): string {
  const code = extractCode(answer, mode);
  const proof = stripTheorem ? withoutTheorem(code) : code;
  return task.header + (restate ? task.formal_statement : "") + proof;
}

function extractCode(answer: string, mode: string): string {
  for (const language of LANGUAGES) {
    const blocks = [...answer.matchAll(new RegExp(`\`\`\`${language}\\s*\\n?(.*?)\\n?\`\`\``, "gs"))];
    const block = blocks.at(mode === "first" ? 0 : -1);
    if (!block) continue;
    const code = strip(block[1] ?? "");
    if (code !== "") return code;
    break;
  }
  return strip(answer.replace(/^\s*```(?:lean4|lean)?\s*/, "").replace(/\s*```\s*$/, ""));
}

/** The text after the `:=` of the first theorem; unchanged if there is none. */
function withoutTheorem(code: string): string {
  const lines = code.split("\n");
  const start = lines.findIndex((line) => /^\s*(?:theorem|example)\b/.test(line));
  if (start < 0) return code;
  const at = lines.findIndex((line, index) => index >= start && line.includes(":="));
  const line = lines[at];
  if (line === undefined) return code;
  const rest = strip(line.slice(line.indexOf(":=") + 2));
  const following = lines.slice(at + 1);
  const proof = rest === "" ? following : [rest, ...following];
  const [first, ...others] = proof;
  if (first === undefined) return "";
  if (strip(first) === "by") return others.join("\n");
  const cut = first.trimStart().startsWith("by ") ? first.trimStart().slice("by ".length) : first;
  return [cut, ...others].join("\n");
}
