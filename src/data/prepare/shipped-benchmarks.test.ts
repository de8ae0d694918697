import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { prepareFromYaml } from "./prepare-from-yaml.ts";
import { readPrepareSpec } from "./spec.ts";

const folder = path.resolve(import.meta.dirname, "../../../benchmarks");
const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => /(?:^|\/)prepare\w*\.yaml$/.test(name))
  .sort();
const names = files
  .filter((name) => existsSync(path.join(folder, path.dirname(name), "data/example.jsonl")))
  .map((name) => path.dirname(name));

let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), "gym-benchmarks-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

async function prepare(name: string, args: Record<string, unknown> = {}) {
  const said: string[] = [];
  const file = await prepareFromYaml(path.join(folder, name, "prepare.yaml"), args, {
    benchmark: name,
    outputPath: path.join(base, "rows.jsonl"),
    cwd: base,
    roots: [],
    hub: {},
    signal: new AbortController().signal,
    log: (line) => said.push(line),
  });
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return { said, rows: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

it.each(files)("%s is well formed and names its licence", (name) => {
  const { about } = readPrepareSpec(path.join(folder, name));
  expect(about.license).toMatch(/\w/);
});

describe("included rows of the benchmarks", () => {
  it.each(names)("%s", async (name) => {
    const { rows, said } = await prepare(name);
    expect(rows.length).toBeGreaterThanOrEqual(5);
    expect(rows.length).toBeLessThanOrEqual(10);
    expect(rows.every((row) => row["sample_data"] === true)).toBe(true);
    expect(said).toEqual([expect.stringContaining("using the included rows")]);
  });
});

it("names the file, the place and the row that does not fit", async () => {
  const source = path.join(folder, "aime24/data/example.jsonl");
  await expect(prepare("gsm8k", { source })).rejects.toThrow(
    /gsm8k\/prepare\.yaml:\d+:\d+: there is no name 'answer'.* Source row 1: \{"question": /,
  );
});
