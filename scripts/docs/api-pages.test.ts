import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { apiPages } from "./api-pages.ts";
import { repositoryRoot } from "./generated-files.ts";

it("docs/reference/api/ is up to date (else run: npm run docs)", { timeout: 240_000 }, async () => {
  for (const { file, text } of apiPages())
    expect(await readFile(path.join(repositoryRoot, file), "utf8"), file).toBe(text);
});
