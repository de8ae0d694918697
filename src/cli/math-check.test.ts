import { expect, it } from "vitest";
import { captureRun } from "../../tests/support/captured-run.ts";

const check = (...words: string[]) => captureRun(["math", "check", ...words]);

it("prints verdict, parsed forms and rule", async () => {
  const { exitCode, stdout } = await check("\\frac{1}{2}", "0.5");
  expect(exitCode).toBe(0);
  expect(stdout).toBe("equal\n  gold    1/2\n  answer  1/2\n  rule    written the same\n");
});

it("exits with 1 if the answers differ, and reports what could not be parsed", async () => {
  const { exitCode, stdout } = await check("5", "\\color{red}{5}");
  expect(exitCode).toBe(1);
  expect(stdout).toContain("not equal");
  expect(stdout).toContain("answer  '\\color{red}{5}' cannot be read: Unknown command \\color (character 1)");
});

it("accepts equations, negative numbers and whole replies", async () => {
  expect((await check("5", "x=5")).exitCode).toBe(0);
  expect((await check("-x^2", "-x\\cdot x")).exitCode).toBe(0);
  expect((await check("42", "So the answer is 42.", "--text")).exitCode).toBe(0);
});

it("supports a strict mode and JSON", async () => {
  const { exitCode, stdout } = await check("-1", "i^2", "--mode", "strict", "--json");
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ equal: true, undecided: false, gold: { parsed: "-1" } });
});

it("rejects surplus words, and escapes control characters", async () => {
  const extra = await check("5", "5", "junk");
  expect(extra.exitCode).toBe(2);
  expect(extra.stderr).toContain(
    "unrecognized arguments: junk. Put several words of one argument in quotes.",
  );
  const { stdout } = await check("5", "5\u001b[31m");
  expect(stdout).not.toContain("\u001b");
  expect(stdout).toContain("\\x1b[31");
});
