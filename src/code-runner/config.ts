import { readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { installRoot } from "../config/paths.ts";
import { type SandboxServer, sandboxConfig } from "../sandbox/open-sandbox.ts";
import { CodeRunner } from "./code-runner.ts";

/**
 * Fields for the config schema of a server that runs code.
 *
 * @example
 * config: z.object({ ...codeRunnerConfig, unit_test_timeout_secs: z.number().default(10) })
 */
export const codeRunnerConfig = {
  ...sandboxConfig,
  /** `none` runs code as it is on this machine, with all rights of the user. Nothing else does. */
  sandbox: z.literal("none").nullish(),
  /** Programs that run at a time; null: one per core, shared by all servers of the process. */
  max_parallel: z.number().int().positive().nullable().default(null),
  /** Interpreters started ahead; default: as many as run at a time. */
  warm: z.number().int().nonnegative().nullish(),
  /** Stateful sessions that may be open at a time. */
  max_sessions: z.number().int().positive().default(256),
  /** The Python inside the sandbox, by name or absolute path: one with the libraries that programs may use. */
  python: z.string().min(1).default("python3"),
  /** For each program; needs a provider that can limit it. */
  memory_mib: z.number().int().positive().default(1024),
};
const schema = z.object(codeRunnerConfig);
export type CodeRunnerConfig = z.output<typeof schema>;

/** A runner for a server, by the fields of `codeRunnerConfig` in its config. Whoever makes one closes it. */
export function createCodeRunner(server: SandboxServer): CodeRunner {
  const config = schema.parse(server.config ?? {});
  if (config.sandbox === "none")
    console.warn(`${server.name} runs code without a sandbox (sandbox: none): it can do whatever you can.`);
  return new CodeRunner(server, config);
}

/** The text of a Python program for `withInterpreter`: our harness, then the given file. */
export function pythonProgram(file: string): string {
  return [harnessFile("harness.py"), file].map((name) => readFileSync(name, "utf8")).join("\n");
}

/** Python files lie in src/, also where the code that reads them is compiled. */
export function harnessFile(name: string): string {
  return path.join(installRoot(), "src", "code-runner", "python", name);
}
