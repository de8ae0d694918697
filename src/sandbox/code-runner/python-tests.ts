import { errorMessage } from "../../base/errors.ts";
import { pyStr } from "../../base/python/door.ts";
import { type JsonObject, loads } from "../../base/python/json/door.ts";
import type { CodeRunner } from "./code-runner.ts";
import { outputDifference } from "./compare-output.ts";
import { agrees } from "./compare-value.ts";
import { harnessFile, pythonProgram } from "./programs.ts";

/** Added to the time of all tests for the start, the loading of the code and the report. */
const EXTRA_SECONDS = 5;
/** A test that has not answered by then has disabled its own time limit. */
const GRACE_SECONDS = 3;
const LONGEST_SHOWN = 300;

export interface UnitTests {
  inputs: readonly string[];
  outputs: readonly string[];
  /** A function to call with the JSON values of the lines of an input; null: the program reads the input and prints. */
  fn_name?: string | null;
}

/** True, or an error code; false is a wrong result of a function. */
export type TestResult = boolean | -1 | -2 | -3 | -4;

export interface TestReport {
  /** One result per test up to the first failure. All are -1 if the process ended or exceeded the total time. */
  results: TestResult[];
  metadata: JsonObject | null;
}

let programText: string | undefined;

/**
 * Runs the tests of a Python program in order, until one fails, by the rules of LiveCodeBench. Expected outputs and values do
 * not enter the sandbox.
 */
export async function runPythonTests(
  runner: CodeRunner,
  { code, tests, timeoutSeconds }: { code: string; tests: UnitTests; timeoutSeconds: number },
  options: { key?: string; signal?: AbortSignal } = {},
): Promise<TestReport> {
  programText ??= pythonProgram(harnessFile("tests.py"));
  return runner.withInterpreter(programText, options, async (interpreter) => {
    const seconds = (timeoutSeconds + 1) * tests.inputs.length + EXTRA_SECONDS;
    const deadline = performance.now() + seconds * 1000;
    const ask = async (request: JsonObject): Promise<JsonObject | undefined> => {
      // Imports and the rest of the program have a time limit each.
      const limits = "code" in request ? 2 : 1;
      const longest = (limits * timeoutSeconds + GRACE_SECONDS) * 1000;
      const timeoutMs = Math.min(deadline - performance.now(), longest);
      if (timeoutMs <= 0) return undefined;
      const answer = await interpreter.ask(request, { timeoutMs, signal: options.signal });
      return answer.status === "answered" ? answer.value : undefined;
    };
    const report = await runTests(ask, code, tests, timeoutSeconds);
    return report ?? { results: tests.inputs.map(() => -1 as const), metadata: null };
  });
}

/** Undefined: the process ended, or the total time was exceeded. */
async function runTests(
  ask: (request: JsonObject) => Promise<JsonObject | undefined>,
  code: string,
  { inputs, outputs, fn_name = null }: UnitTests,
  seconds: number,
): Promise<TestReport | undefined> {
  const loaded = await ask({ code, seconds, fn_name, ...(fn_name !== null && { inputs }) });
  if (loaded === undefined) return undefined;
  if (loaded["loaded"] !== true) return broken(loaded["error"]);
  let values: unknown[];
  try {
    values = fn_name === null ? [] : outputs.map((text) => loads(text, { allowNonFinite: true }));
  } catch (error) {
    return broken(errorMessage(error));
  }
  const results: TestResult[] = [];
  let took = 0;
  for (const [index, expected] of outputs.slice(0, inputs.length).entries()) {
    const input = inputs[index] ?? "";
    const reply = await ask(fn_name === null ? { input } : { index });
    if (reply === undefined || reply["ended"] === true) return undefined;
    const { result, metadata } =
      fn_name === null ? judgeOutput(reply, input, expected) : judgeCall(reply, values[index]);
    results.push(result);
    if (result !== true) return { results, metadata };
    took += Number(reply["seconds"]);
  }
  return { results, metadata: { "execution time": took } };
}

function broken(reason: unknown): TestReport {
  return {
    results: [-4],
    metadata: { error_code: -4, error_message: `Error during testing: ${reason}` },
  };
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

function judgeCall(reply: JsonObject, value: unknown): Verdict {
  const { output, inputs } = reply;
  const expected = shown(pyStr(value));
  if (reply["error"] !== undefined) return judgeFailure(reply, { inputs, expected });
  if (agrees(reply, value)) return { result: true, metadata: {} };
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

/** Shortens a long text to its beginning and its end. */
function shown(text: string): string {
  if (text.length <= LONGEST_SHOWN) return text;
  const characters = Array.from(text);
  if (characters.length <= LONGEST_SHOWN) return text;
  const half = LONGEST_SHOWN / 2;
  return `${characters.slice(0, half).join("")}...(truncated) ...${characters.slice(-half).join("")}`;
}
