import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { FolderWatch } from "./watch.ts";

let folder: string;
let seen: Set<string>;
let watching: FolderWatch;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gym-watch-"));
  mkdirSync(join(folder, "lib"));
  writeFileSync(join(folder, "app.ts"), "1");
  writeFileSync(join(folder, "lib", "rules.ts"), "1");
  seen = new Set();
  watching = new FolderWatch(folder, (file) => seen.add(file));
});

afterEach(() => {
  watching.close();
  rmSync(folder, { recursive: true, force: true });
});

const sees = (file: string) => expect.poll(() => seen.has(file), { timeout: 5_000 }).toBe(true);

function saveByRename(file: string, text: string): void {
  writeFileSync(`${file}.tmp`, text);
  renameSync(`${file}.tmp`, file);
}

it.each(["app.ts", join("lib", "rules.ts")])("reports writes to %s after it was replaced", async (file) => {
  for (let round = 0; round < 3; round++) {
    saveByRename(join(folder, file), `${round}`);
    await sees(file);
    // Events of one step must not be mistaken for those of the next.
    await new Promise((resolve) => setTimeout(resolve, 50));
    seen.clear();
    appendFileSync(join(folder, file), "more");
    await sees(file);
    await new Promise((resolve) => setTimeout(resolve, 50));
    seen.clear();
  }
});

it("reports files in new folders and in folders that replace others", async () => {
  mkdirSync(join(folder, "new"));
  writeFileSync(join(folder, "new", "a.ts"), "1");
  await sees(join("new", "a.ts"));
  mkdirSync(join(folder, "other"));
  writeFileSync(join(folder, "other", "b.ts"), "1");
  await sees(join("other", "b.ts"));
  rmSync(join(folder, "lib"), { recursive: true });
  renameSync(join(folder, "other"), join(folder, "lib"));
  await sees(join("lib", "b.ts"));
  await new Promise((resolve) => setTimeout(resolve, 50));
  seen.clear();
  appendFileSync(join(folder, "lib", "b.ts"), "2");
  await sees(join("lib", "b.ts"));
});

it("ignores folders without code", async () => {
  mkdirSync(join(folder, "node_modules"));
  writeFileSync(join(folder, "node_modules", "x.ts"), "1");
  writeFileSync(join(folder, "app.ts"), "2");
  await sees("app.ts");
  expect([...seen]).not.toContain(join("node_modules", "x.ts"));
});
