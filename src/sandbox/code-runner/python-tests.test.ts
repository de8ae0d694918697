import { expect, it } from "vitest";
import type { CodeRunner } from "./code-runner.ts";
import type { Answer } from "./interpreter.ts";
import { runPythonTests } from "./python-tests.ts";

/** A code runner whose program gives these answers. */
function answering(answers: readonly Answer[]) {
  const limits: number[] = [];
  const interpreter = {
    async ask(_request: object, { timeoutMs }: { timeoutMs: number }) {
      limits.push(timeoutMs);
      return answers[limits.length - 1] ?? { status: "timeout" };
    },
  };
  const runner = {
    withInterpreter: (_source: string, _options: object, use: (given: typeof interpreter) => unknown) =>
      use(interpreter),
  } as unknown as CodeRunner;
  return { runner, limits };
}

it("gives up at the first test that ignores its time limit", async () => {
  const { runner, limits } = answering([
    { status: "answered", value: { loaded: true } },
    { status: "answered", value: { output: "1", seconds: 0.1 } },
  ]);
  const tests = { inputs: ["", "", "", ""], outputs: ["1", "1", "1", "1"] };
  const report = await runPythonTests(runner, { code: "", tests, timeoutSeconds: 10 });
  expect(report).toEqual({ results: [-1, -1, -1, -1], metadata: null });
  expect(limits).toEqual([23_000, 13_000, 13_000]);
});
