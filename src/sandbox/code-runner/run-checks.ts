import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import type { CodeRunner, RunOptions } from "./code-runner.ts";
import type { Answer } from "./interpreter.ts";
import { answerProgram } from "./programs.ts";

/** A call that has not answered by then has disabled its own time limit. */
const GRACE_SECONDS = 3;

let answerText: string | undefined;

/**
 * Sends a request to a program of `checksProgram`, and runs the code of the answer for it in a second sandbox. The two exchange
 * plain values only, so the answer can neither read nor change the checks.
 *
 * @example
 * const program = checksProgram(path.join(server.directory, "check.py"));
 * const reply = await runChecks(runner, program, { code, seconds: 3 }, { timeoutMs: 8000, signal });
 */
export async function runChecks(
  runner: CodeRunner,
  program: string,
  request: JsonObject,
  { timeoutMs, ...options }: RunOptions & { timeoutMs: number },
): Promise<Answer> {
  answerText ??= answerProgram();
  const { signal } = options;
  return runner.withInterpreters([program, answerText], options, async ([checks, answer]) => {
    const deadline = performance.now() + timeoutMs;
    const limit = (seconds = Number.POSITIVE_INFINITY) => ({
      timeoutMs: Math.max(1, Math.min(deadline - performance.now(), (seconds + GRACE_SECONDS) * 1000)),
      signal,
    });
    let reply = await checks.ask(request, limit());
    while (reply.status === "answered" && isObject(reply.value["ask"])) {
      const { ask, seconds } = reply.value;
      const answered = await answer.ask(ask as JsonObject, limit(Number(seconds)));
      if (answered.status !== "answered") return answered;
      reply = await checks.ask({ reply: answered.value }, limit());
    }
    return reply;
  });
}
