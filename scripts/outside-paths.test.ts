import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "..");
const SOURCES = /\.(?:[cm]?[jt]sx?|py|sh)$/;

/** A quoted path that starts with `../`: what climbs, and the rest. */
const CLIMBS = /["'`]((?:\.\.\/)+)([\w@-][^"'`\n]*)["'`]/g;
/** Only data is meant: `../../etc/passwd` and `../app.ts` are inputs of tests or modules, which the compiler checks. */
const DATA = /\/$|\$\{|\.(?:jsonl?|csv|tsv|parquet|ya?ml|toml|md|txt|gz|zip)$/;

/** The places in a source file that name data which is not in the repository. */
function outsidePaths(file: string, text: string): string[] {
  const places: string[] = [];
  for (const { index, 1: climb = "", 2: rest = "" } of text.matchAll(CLIMBS)) {
    const folder = path.resolve(root, path.dirname(file), climb);
    const [first = ""] = rest.split(/[/$*?{]/);
    const isInside = !path.relative(root, folder).startsWith("..") && existsSync(path.join(folder, first));
    if (DATA.test(rest) && !isInside) places.push(`${file}:${text.slice(0, index).split("\n").length}`);
  }
  return places;
}

function sourcesBelow(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => SOURCES.test(name) && !/node_modules|(?:^|\/)golden\//.test(name))
    .map((name) => path.join(folder, name));
}

it("tests, scripts, benchmarks and sources read nothing outside the repository", () => {
  const files = ["tests", "scripts", "bench", "src"].flatMap(sourcesBelow);
  const found = files.flatMap((file) => outsidePaths(file, readFileSync(path.join(root, file), "utf8")));
  expect(files.length).toBeGreaterThan(1_000);
  expect(found).toEqual([]);
});

it("finds data outside the repository, and only that", () => {
  const up = "..";
  const lines = [
    `readFile("${up}/shared/fixtures/x.jsonl")`,
    `new URL("${up}/${up}/other/data/", import.meta.url)`,
    `readFile(\`${up}/shared/\${name}/rows\`)`,
    `readFile("${up}/package.json")`,
    `new URL("${up}/tests/golden/", import.meta.url)`,
    `import { a } from "${up}/missing/module.ts"`,
    `read("${up}/${up}/etc/passwd")`,
  ];
  expect(outsidePaths("bench/a.ts", lines.join("\n"))).toEqual([
    "bench/a.ts:1",
    "bench/a.ts:2",
    "bench/a.ts:3",
  ]);
});
