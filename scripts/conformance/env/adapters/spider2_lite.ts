import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Adapter } from "../adapters.ts";

const LOAD = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(open(sys.argv[2]).read())";
let directory: string | undefined;

/** The fixtures have the text of their database. */
function databaseOf(sql: string): string {
  if (directory !== undefined) return directory;
  directory = mkdtempSync(path.join(tmpdir(), "nemo-gym-conformance-"));
  // The sandbox reads it as another user.
  chmodSync(directory, 0o755);
  const { name } = path.parse(sql);
  const file = path.join(directory, `sqlite/${name}.sqlite`);
  mkdirSync(path.dirname(file), { recursive: true });
  execFileSync("python3", ["-c", LOAD, file, sql]);
  return directory;
}

export const adapter: Adapter = {
  config: (row, { fixtures }) => ({
    spider2_lite_dir: databaseOf(path.join(fixtures, String(row["database"]))),
  }),
};
