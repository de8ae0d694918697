import path from "node:path";
import { type JsonObject, perServer, type ServerContext } from "nemo-gym";
import {
  type CodeRunner,
  codeRunnerConfig,
  createCodeRunner,
  guardedProgram,
  runGuarded,
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
  program: guardedProgram(path.join(server.directory, "run_tests.py")),
}));

export function closeRunner(server: ServerContext<Config>): Promise<void> {
  return runnerOf(server).runner.close();
}

/** Runs the tests in a sandbox with the server's Python. */
export const runTests: RunTests = async (task, { config, server, sessionId, signal }) => {
  const { runner, program } = runnerOf(server);
  const seconds = Math.max(config.min_time_limit, config.gt_time_limit);
  const timeoutMs = config.subprocess_timeout * 1000;
  const outcome = await runGuarded(
    runner,
    program,
    { ...task, seconds },
    { timeoutMs, key: sessionId, signal },
  );
  if ("report" in outcome) return outcome.report;
  if (outcome.ended === "timeout") return { status: "timeout", details: { reason: "time_limit" } };
  const stderr = outcome.ended === "killed" ? outcome.stderr : "The program ended its process.";
  return { status: "error", details: { stderr } };
};
