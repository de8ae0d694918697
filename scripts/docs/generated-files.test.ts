import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { generatedFiles, repositoryRoot } from "./generated-files.ts";

describe("files written from the tables in the code", async () => {
  for (const { file, text } of await generatedFiles()) {
    it(`${file} is up to date (else run: npm run docs)`, async () => {
      expect(await readFile(path.join(repositoryRoot, file), "utf8")).toBe(text);
    });
  }
});
