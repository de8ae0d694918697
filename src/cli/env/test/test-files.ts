import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** How deep tests may lie below a server folder. */
const MAX_DEPTH = 6;
const TEST_FILE = /\.(?:test|spec)\.[cm]?[jt]sx?$/;
const PYTHON_TEST_FILE = /^(?:test_.*|.*_test)\.py$/;

/** Whether a server folder has tests of its own, and in which language. */
export function testLanguage(directory: string): "node" | "python" | undefined {
  const files = filesBelow(directory, 0);
  if (files.some((file) => TEST_FILE.test(file))) return "node";
  return files.some((file) => PYTHON_TEST_FILE.test(path.basename(file))) ? "python" : undefined;
}

/** Whether the tests of a folder load this package by its name. */
export function testsImportGym(directory: string): boolean {
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
