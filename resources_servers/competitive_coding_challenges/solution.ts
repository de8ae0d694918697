import type { Problem } from "./problems.ts";

const GRADER_CONFIG = "graders/grader_config.json";

/** `MULTIFILE` (C++ used as it is), `SIMULATION` (text), or any other word: a C++ program that may lack includes. */
export function taskTypeOf({ grader_files }: Pick<Problem, "grader_files">): string {
  const text = grader_files?.find(([name]) => name === GRADER_CONFIG)?.[1];
  try {
    const type: unknown = JSON.parse(text ?? "{}").task_type;
    return typeof type === "string" ? type : "Batch";
  } catch {
    return "Batch";
  }
}

/** The file with the solution, and its content. */
export function solutionOf(answer: string, problem: Problem, id: string): { file: string; code: string } {
  const type = taskTypeOf(problem);
  if (type === "SIMULATION")
    return { file: "solution.odo", code: lastCodeBlock(answer, ["txt", "text", "plain"]) };
  const code = lastCodeBlock(answer, ["cpp"]);
  return {
    file: `graders/${id}.cpp`,
    code: type === "MULTIFILE" ? code : withIncludes(code, problem.problem_header_include, id),
  };
}

/** The last block of one of these languages; the whole text if there is none. */
export function lastCodeBlock(text: string, languages: readonly string[]): string {
  const block = new RegExp(`\`\`\`(?:${languages.join("|")})\\s*\\n(.*?)\`\`\``, "gis");
  return [...text.matchAll(block)].at(-1)?.[1] ?? text;
}

/** Completes a C++ solution with what the graders expect. */
export function withIncludes(
  code: string,
  header: string | null | undefined,
  problemId: string | null | undefined,
): string {
  if (code === "") return code;
  let text = "#include <bits/stdc++.h>\n";
  const include = `#include "${header}"`;
  if (header && !code.includes(include)) text += `${include}\n`;
  if (!code.includes("using namespace std;") && !code.includes("std::")) text += "\nusing namespace std;\n\n";
  const missing = problemId === "triples" ? missingPart(code) : "";
  return `${text}${code}${missing === "" && code.endsWith("\n") ? "" : "\n"}${missing}`;
}

/** The problem has two functions, and an answer may solve only one of them. */
function missingPart(code: string): string {
  const counts = /\bcount_triples\s*\(/.test(code);
  const constructs = /\bconstruct_range\s*\(/.test(code);
  if (counts === constructs) return "";
  return counts
    ? "std::vector<int> construct_range(int M,int K){return {};}\n"
    : "long long count_triples(std::vector<int> H){return 0LL;}\n";
}

/** Ends the solution before its exit code is awaited: graders of interactive problems wait for it without a limit. */
export function endingUserProgram(runScript: string): string {
  return runScript.replace(/([ \t]*)wait "\$user_pid"/g, (whole, indent: string, at: number) =>
    runScript.slice(Math.max(0, at - 60), at).includes("kill")
      ? whole
      : `${indent}kill "$user_pid" 2>/dev/null || true\n${whole}`,
  );
}

export function safeFileName(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]+/g, "_");
}
