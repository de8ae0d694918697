import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const folder = import.meta.dirname;

// The graphs themselves need LangGraph: tests/frameworks.test.ts installs it and runs them.
it.each(readdirSync(path.join(folder, "configs")))("%s names an existing graph", (file) => {
  const [, entrypoint = ""] =
    /entrypoint: (\S+)/.exec(readFileSync(path.join(folder, "configs", file), "utf8")) ?? [];
  expect(entrypoint).toMatch(/\.ts$/);
  expect(existsSync(path.join(folder, entrypoint))).toBe(true);
});
