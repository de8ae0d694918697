import { existsSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { shellQuote } from "../../../base/door.ts";
import { GymError } from "../../../base/errors.ts";
import { resolveLeniently } from "../../../config/door.ts";
import {
  installNodeDependencies,
  locateServer,
  pythonEnvironment,
} from "../../../servers/hosting/light-door.ts";
import type { CommandContext } from "../../command.ts";
import { runChild } from "../../run-child.ts";
import { readAuditSettings } from "../../workloads/audit/settings.ts";
import { loadManifest } from "../../workloads/catalog/manifest.ts";
import { CASES_FILE, contractOf, type RewardContract } from "../../workloads/verifier-cases/cases.ts";
import { exerciseInProcess } from "../../workloads/verifier-cases/fixture-process.ts";
import { configName, isPythonServer, type ServerFolder } from "../server-folder.ts";
import { catalogEntries, workloadOptions } from "../workload.ts";
import { findTestRunner, testLanguage } from "./vitest.ts";

/** The exit code for a server without tests, like pytest's. */
export const NO_TESTS = 5;

interface TestCommand {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
}

/** The command for the tests of a server; undefined without tests. */
async function testCommand(context: CommandContext, server: ServerFolder): Promise<TestCommand | undefined> {
  const { type, name, directory } = server;
  const language = testLanguage(directory);
  if (language === undefined) return undefined;
  const entrypoint = language === "python" ? "app.py" : "app.ts";
  const root = path.resolve(directory, "../..");
  const code = locateServer({ name, type, implementation: name, entrypoint }, [root]);
  if (language === "python") {
    const instance = { name, type, implementation: name, host: "", port: 0, config: {}, code };
    const { installRoot, err } = context;
    const python = await pythonEnvironment(instance, { globalConfig: {}, installRoot, log: err });
    return { command: [python, "-m", "pytest"], cwd: directory };
  }
  if (code.hasOwnDependencies) await installNodeDependencies(name, directory, context.signal);
  const { command, root: cwd } = findTestRunner(directory, [context.io.cwd, context.installRoot]);
  const filter = `${path.relative(cwd, directory).split(path.sep).join("/")}/`;
  return { command: [...command, filter], cwd };
}

/** Runs the tests of one server with their output shown, then its verifier cases. */
export async function runServerTests(context: CommandContext, server: ServerFolder): Promise<number> {
  const test = await testCommand(context, server);
  if (test === undefined) {
    const wanted = isPythonServer(server) ? "tests/test_app.py" : "app.test.ts (see `gym env init`)";
    context.err(`${server.entrypoint} has no tests: add ${wanted}.`);
    return NO_TESTS;
  }
  const code = await runChild(context, test.command, test.cwd);
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
  return kept.map((word) => (/[^\w@%+=:,./-]/.test(word) ? shellQuote(word) : word)).join(" ");
}

/** Runs the verifier cases of a resources server, if any, and returns the exit code. */
async function runServerCases(context: CommandContext, server: ServerFolder): Promise<number> {
  const { out, err, terminal, signal } = context;
  const { type, directory, entrypoint } = server;
  const file = path.join(directory, CASES_FILE);
  // Python servers run their cases with their tests.
  if (type !== "resources_servers" || !existsSync(file) || existsSync(path.join(directory, "app.py")))
    return 0;
  const { process, ...places } = workloadOptions(context);
  try {
    const target = configuredServer(server, places);
    for (const contract of declaredContracts(context, server, target.configFile)) {
      const request = { ...places, ...target, file, contract, updateExpected: false };
      const cases = await exerciseInProcess(request, process);
      const [low, high] = contract.range;
      out(
        `${terminal.green("✓")} Verifier: ${entrypoint} ${cases.length} cases passed, rewards from ${low} to ${high}.`,
      );
    }
    return 0;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof GymError)) throw error;
    err(`The verifier cases of ${entrypoint} failed: ${error.message}`);
    return 1;
  }
}

/** The config with the server's name, else its first config, and the server in it. */
function configuredServer(
  { name, directory }: ServerFolder,
  places: Omit<ReturnType<typeof workloadOptions>, "process">,
): { configFile: string; instance: string } {
  const folder = path.join(directory, "configs");
  const file = configName(directory, name);
  if (file === undefined) throw new GymError("SERVER_FOLDER", `There is no config in ${folder}.`);
  const configFile = path.join(folder, file);
  const { servers } = resolveLeniently(configFile, places);
  const instance = servers.find(
    (found) => found.type === "resources_servers" && found.implementation === name,
  );
  if (instance === undefined)
    throw new GymError("SERVER_FOLDER", `${configFile} configures no resources server '${name}'.`);
  return { configFile, instance: instance.name };
}

/** The contracts of manifests that use the server; without any, the rewards of its audit settings. */
function declaredContracts(
  context: CommandContext,
  { name, directory }: ServerFolder,
  configFile: string,
): RewardContract[] {
  const contracts: RewardContract[] = [];
  for (const { manifestFile } of catalogEntries(context)) {
    if (manifestFile === undefined || existsSync(path.join(path.dirname(manifestFile), CASES_FILE))) continue;
    const manifest = loadManifest(manifestFile);
    const contract = contractOf(manifest);
    if (manifest.resources_server !== name) continue;
    if (!contracts.some((known) => isDeepStrictEqual(known, contract))) contracts.push(contract);
  }
  if (contracts.length > 0) return contracts;
  const { minimum, maximum } = readAuditSettings(directory, path.basename(configFile, ".yaml")).reward;
  return [{ range: [minimum, maximum], higherIsBetter: true, determinism: "unknown" }];
}
