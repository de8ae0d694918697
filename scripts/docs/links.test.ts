import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { repositoryRoot } from "./generated-files.ts";

const FOLDERS = [
  "docs",
  "examples",
  "python",
  "libraries",
  "resources_servers",
  "responses_api_agents",
  "responses_api_models",
  "benchmarks",
  "environments",
  "deploy",
];

function pages(folder: string): string[] {
  const base = path.join(repositoryRoot, folder);
  if (!existsSync(base)) return [];
  return readdirSync(base, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md") && !file.includes("node_modules"))
    .map((file) => path.join(folder, file));
}

/** The anchors of a page, as GitHub creates them from headings. */
function anchors(text: string): Set<string> {
  const headings = withoutCode(text).matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = ""]) =>
      heading
        .replaceAll(/[`*]|\[([^\]]*)\]\([^)]*\)/g, "$1")
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

const withoutCode = (text: string) => text.replaceAll(/^```[\s\S]*?^```/gm, "");

function brokenLinks(page: string): string[] {
  const text = readFileSync(path.join(repositoryRoot, page), "utf8");
  const broken: string[] = [];
  for (const [, target = ""] of withoutCode(text)
    .replaceAll(/`[^`\n]*`/g, "")
    .matchAll(/\]\(([^()\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [file = "", anchor] = target.split("#");
    const linked =
      file === "" ? path.join(repositoryRoot, page) : path.resolve(repositoryRoot, path.dirname(page), file);
    if (!existsSync(linked)) broken.push(`${page}: ${target}`);
    else if (anchor && statSync(linked).isFile() && !anchors(readFileSync(linked, "utf8")).has(anchor))
      broken.push(`${page}: ${target} (no such heading)`);
  }
  return broken;
}

/** Rows that Markdown does not render as part of a table: without a header and its rule, or with another number of cells. */
function brokenTables(page: string): string[] {
  const text = readFileSync(path.join(repositoryRoot, page), "utf8").replace(/^```[\s\S]*?^```$/gm, "");
  const cells = (line: string) => line.replaceAll("\\|", "").split("|").length;
  return text.split(/\n(?!\|)/).flatMap((block) => {
    const [before = "", ...rows] = block.split("\n");
    const [header = "", rule = ""] = rows;
    if (rows.length === 0) return [];
    const whole = before.trim() === "" && /^\|[\s:|-]+\|$/.test(rule);
    return whole && rows.every((row) => cells(row) === cells(header)) ? [] : [`${page}: ${header}`];
  });
}

const ALL = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "ARCHITECTURE.md",
  ...FOLDERS.flatMap(pages),
].filter((page) => existsSync(path.join(repositoryRoot, page)));

it("every link between pages has a target", () => {
  expect(ALL.flatMap(brokenLinks)).toEqual([]);
});

it("every table is complete", () => {
  expect(ALL.flatMap(brokenTables)).toEqual([]);
});
