import type { JsonObject } from "../python/json/json-object.ts";
import type { CodeRunner } from "./code-runner.ts";
import { outputDifference } from "./compare-output.ts";
import { harnessFile, pythonProgram } from "./config.ts";
import type { Answer, Interpreter } from "./interpreter.ts";

/** Beyond the time of all tests together: starting, loading, reporting. */
const EXTRA_SECONDS = 5;
const LONGEST_SHOWN = 300;

export interface UnitTests {
  inputs: readonly string[];
  outputs: readonly string[];
  /** A function to call with the JSON values of an input's lines; null: the program reads its input and prints. */
  fn_name?: string | null | undefined;
}

/** True, or the number of what went wrong; false is a wrong result of a function. */
export type TestResult = boolean | -1 | -2 | -3 | -4;

export interface TestReport {
  /** One result per test up to the first failure; all -1 when the process ended or the time of all tests was up. */
  results: TestResult[];
  metadata: JsonObject | null;
}

/**
 * Runs the tests of a Python program in order, until one fails, by the rules of LiveCodeBench. Expected outputs of programs that
 * print do not enter the sandbox.
 */
export async function runPythonTests(
  runner: CodeRunner,
  { code, tests, timeoutSeconds }: { code: string; tests: UnitTests; timeoutSeconds: number },
  options: { key?: string; signal?: AbortSignal } = {},
): Promise<TestReport> {
  return runner.withInterpreter(program(), options, async (interpreter) => {
    const seconds = (timeoutSeconds + 1) * tests.inputs.length + EXTRA_SECONDS;
    const run = new TestRun(interpreter, performance.now() + seconds * 1000, options.signal);
    const report = await run.tests(code, tests, timeoutSeconds);
    return report ?? { results: tests.inputs.map(() => -1 as const), metadata: null };
  });
}

let programText: string | undefined;
function program(): string {
  programText ??= pythonProgram(harnessFile("tests.py"));
  return programText;
}

class TestRun {
  readonly #interpreter: Interpreter;
  readonly #deadline: number;
  readonly #signal: AbortSignal | undefined;

  constructor(interpreter: Interpreter, deadline: number, signal: AbortSignal | undefined) {
    this.#interpreter = interpreter;
    this.#deadline = deadline;
    this.#signal = signal;
  }

  /** Undefined: the process ended, or time was up. */
  async tests(code: string, tests: UnitTests, seconds: number): Promise<TestReport | undefined> {
    const { inputs, outputs, fn_name = null } = tests;
    const loaded = await this.#ask({ code, seconds, fn_name, ...(fn_name !== null && { inputs, outputs }) });
    if (loaded === undefined) return undefined;
    if (loaded["loaded"] !== true) {
      const metadata = { error_code: -4, error_message: `Error during testing: ${loaded["error"]}` };
      return { results: [-4], metadata };
    }
    const results: TestResult[] = [];
    let took = 0;
    for (const [index, expected] of outputs.slice(0, inputs.length).entries()) {
      const input = inputs[index] ?? "";
      const reply = await this.#ask(fn_name === null ? { input } : { index });
      if (reply === undefined) return undefined;
      const { result, metadata } = fn_name === null ? judgeOutput(reply, input, expected) : judgeCall(reply);
      results.push(result);
      if (result !== true) return { results, metadata };
      took += Number(reply["seconds"]);
    }
    return { results, metadata: { "execution time": took } };
  }

  async #ask(request: JsonObject): Promise<JsonObject | undefined> {
    const timeoutMs = this.#deadline - performance.now();
    if (timeoutMs <= 0) return undefined;
    const options = { timeoutMs, ...(this.#signal !== undefined && { signal: this.#signal }) };
    const answer: Answer = await this.#interpreter.ask(request, options);
    return answer.status === "answered" ? answer.value : undefined;
  }
}

type Verdict = { result: TestResult; metadata: JsonObject };

function judgeOutput(reply: JsonObject, input: string, expected: string): Verdict {
  const about = { inputs: shown(input), expected: shown(expected) };
  const { output } = reply;
  if (typeof output !== "string") return judgeFailure(reply, about);
  const difference = outputDifference(output, expected);
  if (difference === undefined) return { result: true, metadata: {} };
  const metadata = { output: shown(output), ...about, error_code: -2, error_message: difference };
  return { result: -2, metadata };
}

function judgeCall(reply: JsonObject): Verdict {
  const { output, inputs, expected, equal } = reply;
  if (equal === undefined) return judgeFailure(reply, { inputs, expected });
  if (equal === true) return { result: true, metadata: {} };
  return {
    result: false,
    metadata: { output, inputs, expected, error_code: -2, error_message: "Wrong Answer" },
  };
}

function judgeFailure({ timeout, error }: JsonObject, about: JsonObject): Verdict {
  const [result, error_message] =
    timeout === true ? ([-3, "Time Limit Exceeded"] as const) : ([-4, "Runtime Error"] as const);
  return { result, metadata: { error, error_code: result, error_message, ...about } };
}

/** The beginning and the end of a long text. */
function shown(text: string): string {
  if (text.length <= LONGEST_SHOWN) return text;
  const characters = Array.from(text);
  if (characters.length <= LONGEST_SHOWN) return text;
  const half = LONGEST_SHOWN / 2;
  return `${characters.slice(0, half).join("")}...(truncated) ...${characters.slice(-half).join("")}`;
}
