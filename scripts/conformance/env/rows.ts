import { readFile } from "node:fs/promises";
import { isObject, type JsonObject } from "../../../src/base/python/json/json-object.ts";

export { isObject, type JsonObject };

/** One line of a fixture file; the README of the fixtures describes the formats. */
export interface FixtureRow extends JsonObject {
  id: string;
  config?: JsonObject;
  expected: JsonObject;
}

/** Reads a fixture file; a line that is not a fixture row is an error that names the line. */
export async function readRows(file: string): Promise<FixtureRow[]> {
  return readFixtures(file, (expected) => isObject(expected));
}

/** Reads a fixture file with cases of single functions, whose results may be any value. */
export async function readLines(file: string): Promise<FixtureRow[]> {
  return readFixtures(file, (expected) => expected !== undefined);
}

async function readFixtures(file: string, fits: (expected: unknown) => boolean): Promise<FixtureRow[]> {
  const lines = (await readFile(file, "utf8")).split("\n");
  const rows: FixtureRow[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const row: unknown = JSON.parse(line);
    if (!isObject(row) || !fits(row["expected"])) throw new Error(`${file}:${index + 1}: not a fixture row`);
    rows.push({ ...row, id: typeof row["id"] === "string" ? row["id"] : `line ${index + 1}` } as FixtureRow);
  }
  return rows;
}

export function rowsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
