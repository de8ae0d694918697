import { realpathSync } from "node:fs";
import path from "node:path";
import type { CommandContext } from "../../command.ts";
import { runChild } from "../../run-child.ts";
import { findTestRunner, resolveFrom } from "./vitest.ts";

/** Runs `gym dev test`. */
export async function runDevTests(context: CommandContext): Promise<number> {
  const { io, installRoot, err } = context;
  const { command } = findTestRunner(path.join(io.cwd, "src"), [installRoot]);
  const words = [...command] as [string, ...string[]];
  words.splice(words.indexOf("--root"), 2, "--root", io.cwd);
  // Tests of the built program and its processes are not unit tests.
  if (realpathSync(io.cwd) === realpathSync(installRoot)) words.push("--project", "unit");
  if (resolveFrom(io.cwd, "@vitest/coverage-v8/package.json") !== undefined) words.push("--coverage");
  else err("Without coverage: @vitest/coverage-v8 is not installed here.");
  return runChild(context, words, { cwd: io.cwd });
}
