import { readFileSync } from "node:fs";
import path from "node:path";
import { installRoot } from "../../config/paths.ts";

/** The text of a Python program for `withInterpreter`: our harness, then the given file. */
export function pythonProgram(file: string): string {
  return joined("harness.py", file);
}

/** The text of a Python program for `runChecks`. It gets the class `Answer` of checks.py. */
export function checksProgram(file: string): string {
  return joined("harness.py", "values.py", "checks.py", file);
}

/** The text of the program that runs the code of an answer for `runChecks`. */
export function answerProgram(): string {
  return joined("harness.py", "values.py", "answer.py");
}

/**
 * The text of a Python program for `runGuarded`: it gets the class `Guard`, which notices code that tampers with Python, and
 * ends with `serve_from_child(report_of)`.
 */
export function guardedProgram(file: string): string {
  return joined("guard.py", "harness.py", "forked.py", file);
}

/**
 * The text of a Python file that runs unit tests of untrusted code in a child process, and prints a report that the code
 * cannot forge: `python3 FILE supervise LOG ARGUMENT...`.
 */
export function unittestProgram(): string {
  return joined("guard.py", "unittest_runner.py");
}

/** The Python files are in src/, even if the compiled code reads them. */
export function harnessFile(name: string): string {
  return path.join(installRoot(), "src", "sandbox", "code-runner", "python", name);
}

function joined(...files: string[]): string {
  return files
    .map((file) => readFileSync(path.isAbsolute(file) ? file : harnessFile(file), "utf8"))
    .join("\n");
}
