import { open } from "node:fs/promises";
import { fileError, RolloutError } from "../../rollouts/errors.ts";
import { refuseReplacingRun } from "../../rollouts/files/earlier-results.ts";

const LOOKED_AT = 16;

/** Allows replacing an earlier export; refuses to replace a run or a file that cannot be an export of this format. */
export async function refuseReplacingExport(path: string, format: string): Promise<void> {
  await refuseReplacingRun(path);
  const start = await startOf(path);
  if (start === "" || looksLikeExport(start, format)) return;
  throw new RolloutError(
    "ROLLOUT_OUTPUT_EXISTS",
    `'${path}' is already there and holds no ${format} export; it was left as it is. Choose another --output, or remove it.`,
  );
}

function looksLikeExport(start: string, format: string): boolean {
  if (format === "parquet") return start.startsWith("PAR1");
  if (format === "csv") return start.startsWith("task_index,");
  return start.startsWith("{");
}

async function startOf(path: string): Promise<string> {
  try {
    const file = await open(path, "r");
    try {
      const buffer = Buffer.alloc(LOOKED_AT);
      const { bytesRead } = await file.read(buffer, 0, LOOKED_AT, 0);
      return buffer.toString("latin1", 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw fileError(error, path, "read");
  }
}
