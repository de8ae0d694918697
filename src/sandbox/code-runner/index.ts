/**
 * Runs untrusted code: whole programs, unit tests and stateful sessions, each in a sandbox of its own.
 *
 * @module
 */
export {
  CodeRunner,
  type CodeRunnerConfig,
  codeRunnerConfig,
  createCodeRunner,
  type RunOptions,
} from "./code-runner.ts";
export { sandboxUnavailable } from "./errors.ts";
export type { InterpreterSession } from "./interpreter.ts";
export { checksProgram, guardedProgram, pythonProgram, unittestProgram } from "./programs.ts";
export {
  runPythonTests,
  type TestReport,
  type TestResult,
  type UnitTests,
} from "./python-tests.ts";
export { runChecks } from "./run-checks.ts";
export { runGuarded } from "./run-guarded.ts";
