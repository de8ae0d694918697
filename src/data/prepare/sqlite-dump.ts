import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { DatasetError } from "../errors.ts";

/** More rows in a row than any prompt shows. */
const MAX_INSERTS = 100;
const MAX_BYTES = 64 * 1024 * 1024;

/** Python's own dump, whose form the original's rows have; INSERT statements are on one line. */
const DUMP = `
import sqlite3, sys, urllib.parse
database = sqlite3.connect("file:" + urllib.parse.quote(sys.argv[1]) + "?mode=ro", uri=True)
database.text_factory = lambda value: value.decode(errors="ignore")
run = 0
for statement in database.iterdump():
    insert = statement.startswith("INSERT")
    run = run + 1 if insert else 0
    if run <= ${MAX_INSERTS}:
        sys.stdout.buffer.write((statement.replace("\\n", " ") if insert else statement).encode() + b"\\n")
`;

/** The statements that make a SQLite database, with at most 100 INSERT statements in a row. */
export async function dumpSqlite(file: string, signal?: AbortSignal): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)("python3", ["-I", "-c", DUMP, file], {
      maxBuffer: MAX_BYTES,
      signal,
    });
    return stdout;
  } catch (error) {
    if (signal?.aborted === true) throw error;
    const { code, stderr = "" } = error as { code?: unknown; stderr?: string };
    const reason = code === "ENOENT" ? "python3 is not installed" : stderr.trim().split("\n").at(-1);
    throw new DatasetError("BENCHMARK_SOURCE", `${file} cannot be dumped: ${reason || String(error)}.`, {
      cause: error,
    });
  }
}
