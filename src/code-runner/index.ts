/**
 * Runs untrusted code: whole programs, unit tests and stateful sessions, each in a sandbox of its own.
 *
 * @module
 */
export { CodeRunner, type Program, type RunOptions } from "./code-runner.ts";
export { canonicalDecimal, outputDifference } from "./compare-output.ts";
export { type CodeRunnerConfig, codeRunnerConfig, createCodeRunner, pythonProgram } from "./config.ts";
export { sandboxUnavailable } from "./errors.ts";
export { FairSlots } from "./fair-slots.ts";
export type { Answer, Interpreter } from "./interpreter.ts";
export type { InterpreterSession } from "./interpreter-session.ts";
export { runPythonTests, type TestReport, type TestResult, type UnitTests } from "./python-tests.ts";
