import { createReadStream, existsSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { errorMessage } from "../../../base/errors.ts";
import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import type { AuditFinding, Check } from "../audit/audit.ts";
import { AuditError } from "../errors.ts";
import { Fingerprints } from "./fingerprints.ts";

/** Overlaps that a report lists. The others are counted. */
const MAX_LISTED = 100;
const EVALUATION = ["validation", "test", "benchmark"];

/** Rows of the environment that are in the files of `--against`, and rows for evaluation that are also for training. */
export function contaminationCheck(against: readonly string[]): Check {
  return {
    name: "rows-not-contaminated",
    title: "No row is also in another split or in the files to compare with",
    async run({ dataset: { file: examples, splits } }) {
      const filesOf = (types: readonly string[]) =>
        splits.filter(({ type }) => types.includes(type)).map(({ file }) => file);
      const [evaluation, training] = [filesOf(EVALUATION), filesOf(["train"])];
      const total = { findings: [] as AuditFinding[], rows: 0, compared: 0, overlapping: 0 };
      if (against.length > 0)
        await addOverlaps(total, [...new Set([examples, ...splits.map(({ file }) => file)])], against);
      if (evaluation.length > 0 && training.length > 0) await addOverlaps(total, evaluation, training);
      const { findings, rows, compared, overlapping } = total;
      if (compared === 0) return { findings, skipped: "no file to compare with; give one with --against" };
      return {
        findings,
        note: `${rows} rows with ${compared}`,
        measured: { rows, compared, overlapping },
      };
    },
  };
}

interface Overlaps {
  readonly findings: AuditFinding[];
  rows: number;
  compared: number;
  overlapping: number;
}

/** Compares every row of some files with every row of others, in constant memory per row. */
export async function addOverlaps(
  total: Overlaps,
  files: readonly string[],
  others: readonly string[],
): Promise<void> {
  const index = new Fingerprints();
  const starts: number[] = [];
  for (const file of files) {
    starts.push(index.length);
    for await (const { row } of rowsOf(file)) index.add(taskText(row));
  }
  total.rows += index.length;
  for (const file of others)
    for await (const { row, line } of rowsOf(file)) {
      total.compared++;
      const text = taskText(row);
      const copy = index.find(text);
      if (copy === undefined) continue;
      total.overlapping++;
      if (total.findings.length >= MAX_LISTED) continue;
      const from = starts.findLastIndex((start) => start <= copy);
      const number = copy - (starts[from] ?? 0) + 1;
      const place = `${path.basename(file)}:${line}`;
      total.findings.push({
        message: `Row ${number} of ${path.basename(files[from] ?? "")} is also in ${place}.`,
        evidence: { place, text: text.slice(0, 300) },
      });
    }
}

/** The texts of the user in a row, or all texts of a row of another kind. */
export function taskText(row: JsonObject): string {
  const { responses_create_params: request } = row;
  const { input } = (isObject(request) ? request : {}) as { input?: unknown };
  if (typeof input === "string") return input;
  if (!Array.isArray(input)) return textsIn(row).join("\n");
  const said = input.filter((item) => isObject(item) && item["role"] === "user");
  return textsIn((said.length > 0 ? said : input).map((item) => (item as JsonObject)["content"])).join("\n");
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

async function* rowsOf(file: string): AsyncGenerator<{ row: JsonObject; line: number }> {
  if (!existsSync(file)) throw new AuditError(`--against ${file} does not exist.`);
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(file, "utf8"), crlfDelay: Infinity })) {
    line++;
    if (text.trim() === "") continue;
    let row: unknown;
    try {
      row = JSON.parse(text);
    } catch (error) {
      throw new AuditError(`${file}:${line} is not JSON: ${errorMessage(error)}`);
    }
    yield { row: isObject(row) ? row : { text: row }, line };
  }
}
