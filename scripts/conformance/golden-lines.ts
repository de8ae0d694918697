import { readFile } from "node:fs/promises";

/** The rows of a JSONL file of golden cases. */
export async function goldenLines<Case>(file: string): Promise<Case[]> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => JSON.parse(line) as Case);
}
