import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeDirectory, makeDirectorySync } from "./make-directory.ts";

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "make-directory-"));
});
afterEach(() => rm(base, { recursive: true }));

describe.each([
  ["makeDirectory", makeDirectory],
  ["makeDirectorySync", async (path: string) => makeDirectorySync(path)],
])("%s", (_, make) => {
  it("creates missing directories and keeps existing ones", async () => {
    await make(join(base, "a", "b"));
    await make(join(base, "a", "b"));
    expect((await stat(join(base, "a", "b"))).isDirectory()).toBe(true);
  });

  it("fails where no directory can be created", async () => {
    await writeFile(join(base, "file"), "");
    await expect(make(join(base, "file", "below"))).rejects.toThrow(/ENOTDIR|EEXIST/);
    await expect(make("/proc/nothing/here")).rejects.toThrow("ENOENT");
  });
});
