import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
// @ts-expect-error a plain script without types
import { addChecksums, missingEntries } from "./complete-lockfile.mjs";

it("the lock file works on every platform (else run: node scripts/complete-lockfile.mjs)", async () => {
  const lock: unknown = JSON.parse(await readFile(new URL("../package-lock.json", import.meta.url), "utf8"));
  expect(Object.keys(missingEntries(lock))).toEqual([]);
});

it("describes packages of other platforms by their name", () => {
  const optionalDependencies = {
    "@x/cli-linux-arm64-musl": "1.0.0",
    "@x/cli-win32-x64": "1.0.0",
    "@x/here": "1.0.0",
  };
  const packages = { "node_modules/@x/cli": { dev: true, optionalDependencies } };
  expect(missingEntries({ packages })).toEqual({
    "node_modules/@x/cli-linux-arm64-musl": {
      version: "1.0.0",
      cpu: ["arm64"],
      libc: ["musl"],
      dev: true,
      optional: true,
      os: ["linux"],
    },
    "node_modules/@x/cli-win32-x64": {
      version: "1.0.0",
      cpu: ["x64"],
      dev: true,
      optional: true,
      os: ["win32"],
    },
  });
});

it("adds missing checksums, and lists unknown ones", () => {
  const packages: Record<string, { version?: string; integrity?: string; link?: boolean }> = {
    "": {},
    "node_modules/a": { version: "1.0.0", integrity: "sha512-a" },
    "node_modules/@s/b": { version: "2.0.0" },
    "node_modules/a/node_modules/c": { version: "3.0.0" },
    "node_modules/d": { link: true },
  };
  const unknown = addChecksums(packages, (name: string, version: string) =>
    name === "@s/b" ? `sha512-b${version}` : undefined,
  );
  expect(unknown).toEqual(["c@3.0.0"]);
  expect(packages["node_modules/@s/b"]?.integrity).toBe("sha512-b2.0.0");
  expect(packages["node_modules/a"]?.integrity).toBe("sha512-a");
});
