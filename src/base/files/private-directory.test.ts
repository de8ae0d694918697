import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeSocketDirectory, userDirectory, withTemporaryDirectory } from "./private-directory.ts";

const uid = process.getuid?.() ?? 0;
const name = `nemo-gym-${uid}`;
const before = { ...process.env };
let base: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "private-directory-"));
  delete process.env["XDG_RUNTIME_DIR"];
  process.env["TMPDIR"] = base;
});
afterEach(() => {
  for (const variable of ["XDG_RUNTIME_DIR", "TMPDIR"]) {
    const value = before[variable];
    if (value === undefined) delete process.env[variable];
    else process.env[variable] = value;
  }
  rmSync(base, { recursive: true });
});

describe("userDirectory", () => {
  it("is created for this user only, and reused", () => {
    expect(userDirectory()).toBe(join(base, name));
    expect(statSync(join(base, name)).mode & 0o777).toBe(0o700);
    expect(userDirectory()).toBe(join(base, name));
  });

  it("is in XDG_RUNTIME_DIR if that belongs to the user", () => {
    const runtime = join(base, "runtime");
    process.env["XDG_RUNTIME_DIR"] = runtime;
    expect(userDirectory()).toBe(join(base, name));
    mkdirSync(runtime, { mode: 0o700 });
    expect(userDirectory()).toBe(join(runtime, name));
    rmSync(runtime, { recursive: true });
    writeFileSync(runtime, "");
    expect(userDirectory()).toBe(join(base, name));
  });

  it("rejects a directory that other users can access", () => {
    mkdirSync(join(base, name));
    chmodSync(join(base, name), 0o777);
    expect(userDirectory).toThrow(/other users have access to it \(mode 777\).*XDG_RUNTIME_DIR/);
  });

  it("rejects a link and keeps its target", () => {
    mkdirSync(join(base, "victim"), { mode: 0o700 });
    symlinkSync(join(base, "victim"), join(base, name));
    expect(userDirectory).toThrow("it is a symbolic link");
  });

  it("rejects a file", () => {
    writeFileSync(join(base, name), "");
    expect(userDirectory).toThrow("it is not a directory");
  });

  it("rejects a parent in which every user can rename it", () => {
    chmodSync(base, 0o777);
    expect(userDirectory).toThrow("writable for all and not sticky");
    chmodSync(base, 0o1777);
    expect(userDirectory()).toBe(join(base, name));
  });

  it.runIf(uid === 0)("rejects what belongs to another user", () => {
    mkdirSync(join(base, name), { mode: 0o700 });
    chownSync(join(base, name), 12346, 12346);
    expect(userDirectory).toThrow("it belongs to user 12346");
    process.env["XDG_RUNTIME_DIR"] = join(base, name);
    expect(userDirectory).toThrow("it belongs to user 12346");
  });
});

it("creates directories for sockets in the user's directory", () => {
  const made = makeSocketDirectory("run-");
  expect(made.startsWith(join(base, name, "run-"))).toBe(true);
  expect(statSync(made).mode & 0o777).toBe(0o700);
});

it("removes a temporary directory, also after a failure", async () => {
  let used = "";
  const failing = withTemporaryDirectory("x-", async (directory) => {
    used = directory;
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    writeFileSync(join(directory, "file"), "");
    throw new Error("broken");
  });
  await expect(failing).rejects.toThrow("broken");
  expect(statSync(used, { throwIfNoEntry: false })).toBeUndefined();
});
