import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { suite } from "./environment.ts";

const fixtures = fileURLToPath(new URL("../../../shared/fixtures/", import.meta.url));
const environments = [
  "google_search",
  "math_advanced_calculations",
  "reasoning_gym",
  "single_step_tool_use_with_argument_comparison",
  "workplace_assistant",
  "xlam_fc",
];

describe("shared fixtures", () => {
  for (const environment of environments) {
    const folder = `${fixtures}${environment}`;
    const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(".jsonl")) : [];
    if (files.length === 0) it(`${environment}: there are no fixtures next to the repository`, () => {});
    it.each(files)(`${environment}: %s`, async (file) => {
      const results = await suite(`${folder}/${file}`, environment);
      expect(results.length).toBeGreaterThan(0);
      expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
    });
  }
});
