import { stat } from "node:fs/promises";
import { findExistingPath } from "../../config/paths.ts";
import { parseExactRow, readTextLines } from "../lines.ts";
import { containerOf } from "./format-names.ts";
import { detectFormat } from "./formats.ts";

/** Whether the input of a run is not yet a file of rows. `hasPrompt`: a prompt config makes the inputs. */
export async function needsConversion(
  name: string,
  { roots, hasPrompt }: { roots: readonly string[]; hasPrompt: boolean },
): Promise<boolean> {
  if (name.startsWith("hub:")) return true;
  const container = containerOf(name);
  if (container === undefined) return false;
  if (container !== "jsonl" || name.endsWith(".gz")) return true;
  const file = findExistingPath(name, [...roots]);
  if (file === undefined || hasPrompt) return false;
  // The run reports what is not a file, cannot be read, or has lines that are not rows.
  if (!(await stat(file).catch(() => undefined))?.isFile()) return false;
  try {
    for await (const line of readTextLines(file)) {
      if (line?.trim() === "") continue;
      const format = detectFormat(parseExactRow(line, name));
      return format !== undefined && format !== "rows";
    }
  } catch {
    return false;
  }
  return false;
}
