import { createReadStream, existsSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { errorMessage } from "../../../base/errors.ts";
import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import type { AuditFinding, Check } from "../audit/audit.ts";
import { AuditError } from "../errors.ts";
import { Fingerprints } from "./fingerprints.ts";

/** Rows that others share with this environment: its other splits, and the files of `--against`. */
export function contaminationCheck(against: readonly string[]): Check {
  return {
    name: "rows-not-contaminated",
    title: "No row is also in another split or in the files to compare with",
    async run({ rows }) {
      if (against.length === 0)
        return { findings: [], skipped: "no file to compare with; give one with --against" };
      const index = new Fingerprints(rows.length);
      for (const row of rows) index.add(taskText(row));
      const findings: AuditFinding[] = [];
      let compared = 0;
      for (const file of against)
        for await (const { row, line } of rowsOf(file)) {
          compared++;
          const copy = index.find(taskText(row));
          if (copy === undefined) continue;
          const message = `It is also in ${path.basename(file)}:${line}.`;
          findings.push({
            message,
            row: copy + 1,
            evidence: { file: path.basename(file), line, text: taskText(row).slice(0, 300) },
          });
        }
      return {
        findings,
        note: `${rows.length} rows with ${compared}`,
        measured: { rows: rows.length, compared, overlapping: findings.length },
      };
    },
  };
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
