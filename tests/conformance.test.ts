import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import type { runSuite as RunSuite } from "../scripts/conformance/suite.ts";
import { skipWithoutBubblewrap } from "../src/testing/skip-without-bubblewrap.ts";

const root = path.resolve(import.meta.dirname, "..");
const suites = path.join(root, "scripts/conformance");
/** A sample of the golden vectors is part of the repository; the variable names a directory with more of them. */
const places = [path.join(root, "tests/golden"), process.env["NEMO_GYM_GOLDEN_VECTORS"] ?? ""].filter(
  existsSync,
);

const CASE_FILES: Readonly<Record<string, string>> = {
  config: "config-cases.json",
  conversion: "conversion-cases.json",
  metrics: "metrics-cases.json",
  expansion: "rollout-expansion-cases.json",
  collate: "collate-cases.json",
};

/** Recorded rollouts of the original that are vectors by themselves. */
const ROLLOUTS: Readonly<Record<string, readonly string[]>> = {
  mini_swe_agent_2: ["upstream_data/example_rollouts.jsonl"],
};

/** Files beside the cases that some of them name. */
const DATA_FILES = new Set(["test_metadata.jsonl"]);

const runs: { suite: string; file: string }[] = [];
for (const place of places) {
  for (const [suite, file] of Object.entries(CASE_FILES)) {
    if (existsSync(path.join(suites, `${suite}.ts`)))
      runs.push({ suite, file: path.join(place, "reference", file) });
  }
  for (const name of filesOf(path.join(place, "fixtures/benchmarks"))) {
    if (existsSync(path.join(root, "benchmarks", name)))
      runs.push({ suite: "benchmarks", file: path.join(place, "fixtures/benchmarks", name) });
  }
  const agents = foldersOf(path.join(root, "responses_api_agents")).filter((name) =>
    existsSync(path.join(suites, `env/adapters/${name}.ts`)),
  );
  for (const name of new Set([...foldersOf(path.join(root, "resources_servers")), ...agents])) {
    const fixtures = path.join(place, "fixtures", name);
    for (const file of [...filesOf(fixtures), ...(ROLLOUTS[name] ?? [])]) {
      if (file.endsWith(".jsonl") && !DATA_FILES.has(file))
        runs.push({ suite: `env:${name}`, file: path.join(fixtures, file) });
    }
  }
}
const present = runs.filter(({ file }) => existsSync(file));

// The built suites, so that environments and core share one set of modules, as for users.
const built = pathToFileURL(path.join(root, "dist/scripts/conformance/suite.js")).href;
const { runSuite } = (await import(built)) as { runSuite: typeof RunSuite };

describe("golden vectors", () => {
  it("are compared in every clone", () => {
    expect(present.filter(({ file }) => file.includes("tests/golden")).length).toBeGreaterThanOrEqual(12);
  });

  for (const { suite, file } of present) {
    const runsPrograms =
      /^env:(code_gen|competitive_coding_challenges|code_fim|evalplus|math_with_code|nvarc|scicode)$/.test(
        suite,
      );
    it.skipIf(runsPrograms && skipWithoutBubblewrap)(
      `${suite} agrees with ${path.relative(root, file)}`,
      { timeout: 1_200_000 },
      async () => {
        const results = await runSuite(suite, file);
        const failures = results.filter(({ error }) => error !== undefined);
        expect(results.length).toBeGreaterThan(0);
        expect(failures.map(({ id, error }) => `${id}: ${error}`)).toEqual([]);
      },
    );
  }
});

function foldersOf(directory: string): string[] {
  return filesOf(directory).filter((name) => existsSync(path.join(directory, name, "app.ts")));
}

function filesOf(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory).sort() : [];
}
