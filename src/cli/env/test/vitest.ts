import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { errorMessage, GymError } from "../../../base/errors.ts";
import { ancestors } from "../../ancestors.ts";
import type { CommandContext } from "../../command.ts";
import { runChild } from "../../run-child.ts";

interface TestRunner {
  /** The program that runs tests, with its first arguments. */
  readonly command: readonly [string, ...string[]];
  /** The project of the tests, where the runner starts. */
  readonly root: string;
}

const TEST_CONFIGS = ["vitest", "vite"].flatMap((tool) =>
  ["ts", "mts", "cts", "js", "mjs", "cjs"].map((extension) => `${tool}.config.${extension}`),
);
const CONFIGS = [...TEST_CONFIGS, "package.json"];

/** Vitest's default of 5 s is too short for a server that loads a large library, or a busy machine. */
const LIMITS = ["--testTimeout=60000", "--hookTimeout=60000"];

/** The test runner for files in a directory: that of their project, else that of the first other directory with one. */
export function findTestRunner(directory: string, others: readonly string[]): TestRunner {
  const root = projectRoot(directory);
  checkInstalled(directory, root);
  const isConfigured = TEST_CONFIGS.some((name) => existsSync(path.join(root, name)));
  for (const place of [directory, root, ...others]) {
    const file = resolveFrom(place, "vitest/package.json");
    if (file !== undefined) {
      const program = path.join(path.dirname(file), "vitest.mjs");
      const limits = isConfigured ? [] : LIMITS;
      return { command: [process.execPath, program, "run", "--root", root, ...limits], root };
    }
  }
  throw new GymError(
    "TEST_RUNNER",
    `vitest is not installed for the tests in ${directory}. Install it in that project: npm install --save-dev vitest`,
  );
}

/** Tests of a project that is not installed fail with unclear errors, so this is checked first. */
function checkInstalled(directory: string, root: string): void {
  if (!existsSync(directory) || !declaresGym(root) || hasGym(directory) || !testsImportGym(directory)) return;
  throw new GymError(
    "TEST_RUNNER",
    `The packages of the project ${root} are not installed, so the tests in ${directory} cannot load 'nemo-gym'. Install them: cd ${root} && npm install`,
  );
}

function declaresGym(root: string): boolean {
  const file = path.join(root, "package.json");
  if (!existsSync(file)) return false;
  const { dependencies, devDependencies } = readManifest(file);
  return dependencies?.["nemo-gym"] !== undefined || devDependencies?.["nemo-gym"] !== undefined;
}

function readManifest(
  file: string,
): Partial<Record<"dependencies" | "devDependencies", Record<string, string>>> {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new GymError("TEST_RUNNER", `${file} is not valid JSON: ${errorMessage(error)}`);
  }
}

/** Searched manually, because the package has no `require` export. */
function hasGym(directory: string): boolean {
  return ancestors(directory).some((folder) =>
    existsSync(path.join(folder, "node_modules/nemo-gym/package.json")),
  );
}

/** The nearest parent folder with a test config or a package.json; the directory itself if no parent has one. */
function projectRoot(directory: string): string {
  const isProject = (folder: string) => CONFIGS.some((file) => existsSync(path.join(folder, file)));
  return ancestors(path.dirname(directory)).find(isProject) ?? directory;
}

function resolveFrom(directory: string, specifier: string): string | undefined {
  try {
    return createRequire(path.join(directory, "noop.js")).resolve(specifier);
  } catch {
    // Not installed there.
    return undefined;
  }
}

/** Runs `gym dev test`. */
export async function runDevTests(context: CommandContext): Promise<number> {
  const { io, installRoot, err } = context;
  const { command } = findTestRunner(path.join(io.cwd, "src"), [installRoot]);
  const words = [...command] as [string, ...string[]];
  words.splice(words.indexOf("--root"), 2, "--root", io.cwd);
  // Tests of the built program and its processes are not unit tests.
  if (realpathSync(io.cwd) === realpathSync(installRoot)) words.push("--project", "unit");
  if (resolveFrom(io.cwd, "@vitest/coverage-v8/package.json") !== undefined) words.push("--coverage");
  else err("Coverage is not measured: @vitest/coverage-v8 is not installed here.");
  return runChild(context, words, io.cwd);
}

/** Maximum depth of tests below a server folder. */
const MAX_DEPTH = 6;
const TEST_FILE = /\.(?:test|spec)\.[cm]?[jt]sx?$/;
const PYTHON_TEST_FILE = /^(?:test_.*|.*_test)\.py$/;

/** Whether a server folder has tests, and in which language. */
export function testLanguage(directory: string): "node" | "python" | undefined {
  const files = filesBelow(directory, 0);
  if (files.some((file) => TEST_FILE.test(file))) return "node";
  return files.some((file) => PYTHON_TEST_FILE.test(path.basename(file))) ? "python" : undefined;
}

/** Whether the tests of a folder load this package by its name. */
function testsImportGym(directory: string): boolean {
  return filesBelow(directory, 0).some(
    (file) => TEST_FILE.test(file) && /["']nemo-gym(?:\/\w+)?["']/.test(readFileSync(file, "utf8")),
  );
}

function filesBelow(directory: string, depth: number): string[] {
  if (depth > MAX_DEPTH) return [];
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === "node_modules" || entry.name.startsWith(".")) return [];
    const file = path.join(directory, entry.name);
    return entry.isDirectory() ? filesBelow(file, depth + 1) : [file];
  });
}
