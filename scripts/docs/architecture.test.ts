import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { repositoryRoot } from "./generated-files.ts";

const text = readFileSync(path.join(repositoryRoot, "ARCHITECTURE.md"), "utf8");

it("ARCHITECTURE.md names files and folders that exist", () => {
  const names = [...text.matchAll(/`((?:src|responses_api_\w+|resources_servers|scripts)\/[^`\s]*)`/g)].map(
    ([, name = ""]) => name,
  );
  expect(names.length).toBeGreaterThan(40);
  expect(names.filter((name) => !existsSync(path.join(repositoryRoot, name)))).toEqual([]);
});

it("ARCHITECTURE.md has a line for every folder of src/", () => {
  const folders = readdirSync(path.join(repositoryRoot, "src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  expect(folders.filter((name) => !text.includes(`| \`src/${name}/\` |`))).toEqual([]);
});
