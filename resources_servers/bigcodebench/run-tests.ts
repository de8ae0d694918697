import { randomUUID } from "node:crypto";
import path from "node:path";
import { type JsonObject, perServer, type ServerContext } from "nemo-gym";
import {
  type CodeRunner,
  codeRunnerConfig,
  createCodeRunner,
  guardProgram,
  pythonProgram,
} from "nemo-gym/code-runner";
import { laxFloat } from "nemo-gym/openai";
import { z } from "zod";

export const Config = z.object({
  ...codeRunnerConfig,
  min_time_limit: laxFloat().default(1),
  /** Seconds for all tests of a task. */
  gt_time_limit: laxFloat().default(20),
  /** Seconds after which the process is killed. */
  subprocess_timeout: laxFloat().default(240),
  /** Keys of the original without effect: the code runner has its own (`python`, `max_parallel`, `memory_mib`). */
  num_processes: z.unknown().optional(),
  venv_path: z.unknown().optional(),
  bcb_python_version: z.unknown().optional(),
  max_as_limit: z.unknown().optional(),
  max_data_limit: z.unknown().optional(),
  max_stack_limit: z.unknown().optional(),
});
export type Config = z.output<typeof Config>;

export interface TestTask {
  code: string;
  test_code: string;
  entry_point: string;
}

/** `pass`, `fail`, `timeout`, `error`, or null if the runner reported nothing. */
export interface TestVerdict {
  status?: string | null;
  details?: JsonObject | null;
}

interface Scope {
  config: Config;
  server: ServerContext<Config>;
  sessionId: string;
  signal: AbortSignal;
}

export type RunTests = (task: TestTask, scope: Scope) => Promise<TestVerdict | null>;

const runnerOf = perServer((server: ServerContext<Config>) => ({
  runner: createCodeRunner(server) as CodeRunner,
  program: `${guardProgram()}\n${pythonProgram(path.join(server.directory, "run_tests.py"))}`,
}));

export function closeRunner(server: ServerContext<Config>): Promise<void> {
  return runnerOf(server).runner.close();
}

/** Runs the tests in a sandbox with the server's Python. */
export const runTests: RunTests = async (task, { config, server, sessionId, signal }) => {
  const { runner, program } = runnerOf(server);
  const seconds = Math.max(config.min_time_limit, config.gt_time_limit);
  const nonce = randomUUID();
  const answer = await runner.withInterpreter(program, { key: sessionId, signal }, (interpreter) =>
    interpreter.ask({ ...task, seconds, nonce }, { timeoutMs: config.subprocess_timeout * 1000, signal }),
  );
  if (answer.status === "answered") {
    const { nonce: returned, ...verdict } = answer.value;
    // The program wrote the line, not the harness.
    if (returned !== nonce) return { status: "error", details: { stderr: "The reply is not genuine." } };
    return verdict;
  }
  if (answer.status === "timeout")
    return { status: "timeout", details: { reason: "outer_subprocess_timeout" } };
  return { status: "error", details: { stderr: answer.result.stderr } };
};
