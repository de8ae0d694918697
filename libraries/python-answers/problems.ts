import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { GymError } from "nemo-gym";
import { z } from "zod";

/** Reads problems by `task_id` from JSON Lines or from one JSON object, optionally compressed with gzip. */
export async function readProblems<Schema extends z.ZodType<{ task_id: string }>>(
  file: string,
  schema: Schema,
): Promise<Map<string, z.output<Schema>>> {
  try {
    const bytes = await readFile(file);
    const text = (file.endsWith(".gz") ? await promisify(gunzip)(bytes) : bytes).toString("utf8");
    const problems = rowsOf(text).map((row) => schema.parse(row));
    return new Map(problems.map((problem) => [problem.task_id, problem]));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new GymError("PROBLEMS_FILE", `The problems file '${file}' cannot be used: ${reason}`, {
      cause: error,
    });
  }
}

/** A row that names a problem. A row without a problem is scored 0, as in the original. */
export const ProblemRow = z.object({
  verifier_metadata: z.looseObject({ task_id: z.unknown().optional() }).nullish(),
});
export const ProblemSeed = z.looseObject({ verifier_metadata: z.looseObject({ task_id: z.string() }) });

/** The problem of a row, or the reason why it has none. */
export function problemOf<Problem>(
  { verifier_metadata }: z.output<typeof ProblemRow>,
  problems: ReadonlyMap<string, Problem>,
  source: string,
): { problem: Problem } | { error: string } {
  const id = verifier_metadata?.task_id;
  const problem = typeof id === "string" ? problems.get(id) : undefined;
  if (problem !== undefined) return { problem };
  return { error: id == null ? "no task_id" : `unknown task_id '${id}' for ${source}` };
}

function rowsOf(text: string): unknown[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  // One object over several lines is a map from names to problems.
  if (lines[0]?.trim() === "{") return Object.values(JSON.parse(text) as object);
  return lines.map((line) => JSON.parse(line) as unknown);
}
