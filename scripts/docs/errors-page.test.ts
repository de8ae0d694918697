import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { errorTables } from "./errors-page.ts";
import { repositoryRoot } from "./generated-files.ts";

const RAISED = /(?:super|GymError|MetricsError)\(\s*"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"/g;

/** Codes that occur as literals in the code, with the files that raise them. */
async function raisedCodes(): Promise<Map<string, string>> {
  const directory = path.join(repositoryRoot, "src");
  const codes = new Map<string, string>();
  for (const file of await readdir(directory, { recursive: true })) {
    if (!file.endsWith(".ts") || file.endsWith(".test.ts")) continue;
    const text = await readFile(path.join(directory, file), "utf8");
    for (const [, code] of text.matchAll(RAISED)) codes.set(code ?? "", file);
  }
  return codes;
}

describe("tables of error codes", async () => {
  const tables = await errorTables();

  it("contain each code once", () => {
    const codes = tables.flatMap(({ rows }) => rows.map(({ code }) => code));
    expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([]);
  });

  it("list every code that is raised", async () => {
    const listed = new Set<string>(tables.flatMap(({ rows }) => rows.map(({ code }) => code)));
    expect([...(await raisedCodes())].filter(([code]) => !listed.has(code))).toEqual([]);
  });
});
