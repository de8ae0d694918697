import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { GymError } from "../../../errors.ts";

export interface TestRunner {
  /** The program that runs tests, with its first words. */
  readonly command: readonly [string, ...string[]];
  /** The project the tests belong to: where the runner is started. */
  readonly root: string;
}

const TEST_CONFIGS = ["vitest", "vite"].flatMap((tool) =>
  ["ts", "mts", "cts", "js", "mjs", "cjs"].map((extension) => `${tool}.config.${extension}`),
);
const CONFIGS = [...TEST_CONFIGS, "package.json"];

/** Vitest's own limit of 5 s is short for a server that loads a large library, or a busy machine. */
const LIMITS = ["--testTimeout=60000", "--hookTimeout=60000"];

/** The test runner for files in a directory: that of their own project, else of the first of the other places that has one. */
export function findTestRunner(directory: string, others: readonly string[]): TestRunner {
  const root = projectRoot(directory);
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
    `There is no vitest for the tests in ${directory}. Install it in that project: npm install --save-dev vitest`,
  );
}

/** The nearest folder above with a test config or a package.json; the directory's own package.json only counts for a project of its own. */
function projectRoot(directory: string): string {
  for (let folder = path.dirname(directory); ; folder = path.dirname(folder)) {
    if (CONFIGS.some((file) => existsSync(path.join(folder, file)))) return folder;
    if (path.dirname(folder) === folder) return directory;
  }
}

export function resolveFrom(directory: string, specifier: string): string | undefined {
  try {
    return createRequire(path.join(directory, "noop.js")).resolve(specifier);
  } catch {
    // Not installed there.
    return undefined;
  }
}
