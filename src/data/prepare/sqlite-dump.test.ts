import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isInstalled } from "../../base/installed-program.ts";
import { dumpSqlite } from "./sqlite-dump.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), "gym-sqlite-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe.skipIf(process.env["CI"] === undefined && !isInstalled("python3"))("the dump of a database", () => {
  it("has INSERT statements on one line, and a limited number of them", async () => {
    const file = path.join(base, "a ?b#.sqlite");
    const script = `
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("CREATE TABLE t (x,\\n y)")
database.executemany("INSERT INTO t VALUES (?, ?)", [(i, "two\\nlines") for i in range(500)])
database.commit()`;
    execFileSync("python3", ["-c", script, file]);
    const lines = (await dumpSqlite(file)).split("\n");
    expect(lines.slice(0, 4)).toEqual([
      "BEGIN TRANSACTION;",
      "CREATE TABLE t (x,",
      " y);",
      `INSERT INTO "t" VALUES(0,'two lines');`,
    ]);
    expect(lines.filter((line) => line.startsWith("INSERT"))).toHaveLength(100);
    expect(lines.slice(-2)).toEqual(["COMMIT;", ""]);
  });

  it("names a file that is not a database", async () => {
    const file = path.join(base, "no.sqlite");
    writeFileSync(file, "x".repeat(4096));
    await expect(dumpSqlite(file)).rejects.toThrow(/no\.sqlite cannot be dumped: .*not a database/);
  });
});
