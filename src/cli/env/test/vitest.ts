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

const CONFIGS = [
  "vitest.config.ts",
  "vitest.config.js",
  "vitest.config.mjs",
  "vite.config.ts",
  "package.json",
];

/** The test runner for files in a directory: that of their own project, else the one this package has. */
export function findTestRunner(directory: string, installRoot: string): TestRunner {
  const root = projectRoot(directory);
  for (const place of [directory, root, installRoot]) {
    const file = resolveFrom(place, "vitest/package.json");
    if (file !== undefined) {
      return {
        command: [process.execPath, path.join(path.dirname(file), "vitest.mjs"), "run", "--root", root],
        root,
      };
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
