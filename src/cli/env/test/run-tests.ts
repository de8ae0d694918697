import { existsSync } from "node:fs";
import path from "node:path";
import { locateServer } from "../../../hosting/locate-server.ts";
import { installNodeDependencies } from "../../../hosting/processes/node-dependencies.ts";
import { pythonEnvironment } from "../../../hosting/processes/python-environment.ts";
import type { CommandContext } from "../../command.ts";
import { runChild } from "../../run-child.ts";
import type { ServerFolder } from "../server-folder.ts";
import { runServerCases } from "./server-cases.ts";
import { findTestRunner, testLanguage } from "./vitest.ts";

/** The exit code for a server without tests, like pytest's. */
const NO_TESTS = 5;

export interface TestCommand {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
}

/** The command for the tests of a server; undefined without tests. */
async function testCommand(context: CommandContext, server: ServerFolder): Promise<TestCommand | undefined> {
  const { type, name, directory } = server;
  const language = testLanguage(directory);
  if (language === undefined) return undefined;
  if (language === "python") {
    const code = locateServer({ name, type, implementation: name, entrypoint: "app.py" }, [
      path.resolve(directory, "../.."),
    ]);
    const instance = { name, type, implementation: name, host: "", port: 0, config: {}, code };
    const { installRoot, err } = context;
    const python = await pythonEnvironment(instance, { globalConfig: {}, installRoot, log: err });
    return { command: [python, "-m", "pytest"], cwd: directory };
  }
  if (hasOwnDependencies(server)) await installNodeDependencies(name, directory, context.signal);
  const { command, root } = findTestRunner(directory, [context.io.cwd, context.installRoot]);
  const filter = `${path.relative(root, directory).split(path.sep).join("/")}/`;
  return { command: [...command, filter], cwd: root };
}

/** Runs the tests of one server with their output shown, then its verifier cases. */
export async function runServerTests(context: CommandContext, server: ServerFolder): Promise<number> {
  const test = await testCommand(context, server);
  if (test === undefined) {
    const isPython =
      !existsSync(path.join(server.directory, "app.ts")) && existsSync(path.join(server.directory, "app.py"));
    const wanted = isPython ? "tests/test_app.py" : "app.test.ts (see `gym env init`)";
    context.err(`${server.entrypoint} has no tests: add ${wanted}.`);
    return NO_TESTS;
  }
  const code = await runChild(context, test.command, { cwd: test.cwd });
  if (code !== 0) {
    context.err(`\nThe tests of ${server.entrypoint} failed. Run them by hand with:`);
    context.err(`  cd ${test.cwd} && ${byHand(test.command)}`);
    return code;
  }
  return runServerCases(context, server);
}

function byHand(command: readonly string[]): string {
  const words = command[0] === process.execPath ? ["npx", "vitest", ...command.slice(2)] : command;
  const root = words.indexOf("--root");
  const kept = root < 0 ? words : [...words.slice(0, root), ...words.slice(root + 2)];
  return kept
    .map((word) => (/[^\w@%+=:,./-]/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : word))
    .join(" ");
}

function hasOwnDependencies({ type, name, directory }: ServerFolder): boolean {
  const code = locateServer({ name, type, implementation: name, entrypoint: "app.ts" }, [
    path.resolve(directory, "../.."),
  ]);
  return code.hasOwnDependencies;
}
