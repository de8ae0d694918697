import { randomUUID } from "node:crypto";
import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import type { CodeRunner, RunOptions } from "./code-runner.ts";

/** The report of a program, or why there is none: `exit` if the code ended its process, `forged` if the reply is not genuine. */
export type GuardedReport =
  | { report: JsonObject }
  | { ended: "timeout" | "exit" | "forged" }
  | { ended: "killed"; stderr: string | null };

/**
 * Sends a request to a program of `guardedProgram`, which runs untrusted code in a child process for at most `seconds`.
 * `timeoutMs` is for everything, also for the control run of a program that has one.
 */
export async function runGuarded(
  runner: CodeRunner,
  program: string,
  request: JsonObject & { seconds: number },
  { timeoutMs, ...options }: RunOptions & { timeoutMs: number },
): Promise<GuardedReport> {
  const nonce = randomUUID();
  const { signal } = options;
  const answer = await runner.withInterpreter(program, options, (interpreter) =>
    interpreter.ask({ ...request, nonce }, { timeoutMs, signal }),
  );
  if (answer.status === "timeout") return { ended: "timeout" };
  if (answer.status === "ended") return { ended: "killed", stderr: answer.result.stderr };
  const { nonce: returned, report, ended } = answer.value;
  // Otherwise the code wrote the line, not the program.
  if (returned !== nonce) return { ended: "forged" };
  if (isObject(report)) return { report };
  return { ended: ended === "timeout" ? "timeout" : "exit" };
}
