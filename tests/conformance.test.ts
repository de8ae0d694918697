import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import type { runSuite as RunSuite } from "../scripts/conformance/suite.ts";

/** The golden vectors lie beside the repository; without them there is nothing to compare with. */
const root = path.resolve(import.meta.dirname, "..");
const shared = path.resolve(root, "../shared");
const suites = path.join(root, "scripts/conformance");

const CASE_FILES: Readonly<Record<string, string>> = {
  config: "config-cases.json",
  conversion: "conversion-cases.json",
  metrics: "metrics-cases.json",
  expansion: "rollout-expansion-cases.json",
  collate: "collate-cases.json",
};

const runs: { suite: string; file: string }[] = [];
for (const [suite, file] of Object.entries(CASE_FILES)) {
  if (existsSync(path.join(suites, `${suite}.ts`)))
    runs.push({ suite, file: path.join(shared, "reference", file) });
}
for (const name of foldersOf(path.join(root, "resources_servers"))) {
  const fixtures = path.join(shared, "fixtures", name);
  for (const file of filesOf(fixtures)) {
    if (file.endsWith(".jsonl")) runs.push({ suite: `env:${name}`, file: path.join(fixtures, file) });
  }
}
const present = runs.filter(({ file }) => existsSync(file));

// The built suites: environments and core then are one set of modules, as they are for users.
const built = pathToFileURL(path.join(root, "dist/scripts/conformance/suite.js")).href;
const { runSuite } = (await import(built)) as { runSuite: typeof RunSuite };

describe("golden vectors", () => {
  if (present.length === 0) {
    it("are not here (../shared is absent), so nothing is compared", () =>
      expect(existsSync(shared)).toBe(false));
  }
  for (const { suite, file } of present) {
    it(`${suite} agrees with ${path.relative(shared, file)}`, { timeout: 300_000 }, async () => {
      const results = await runSuite(suite, file);
      const failures = results.filter(({ error }) => error !== undefined);
      expect(results.length).toBeGreaterThan(0);
      expect(failures.map(({ id, error }) => `${id}: ${error}`)).toEqual([]);
    });
  }
});

function foldersOf(directory: string): string[] {
  return filesOf(directory).filter((name) => existsSync(path.join(directory, name, "app.ts")));
}

function filesOf(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory).sort() : [];
}
