import { loadsPlain } from "../../python/json/json-loads.ts";
import { isObject } from "../../python/json/json-object.ts";
import { DatasetError } from "../errors.ts";
import { type Line, readLines } from "../lines.ts";
import { PositionRanges } from "../position-ranges.ts";

/** Fails unless every line of a training file is an object with `responses_create_params`. */
export async function checkTrainingRows(file: string, signal?: AbortSignal): Promise<void> {
  const bad = new PositionRanges();
  let line = 0;
  for await (const text of readLines(file, { signal })) {
    line++;
    if (!isTrainingRow(text)) bad.add(line, 1);
  }
  if (bad.count === 0) return;
  throw new DatasetError(
    "DATASET_ROW_INVALID",
    `${bad.count} of ${line} rows of '${file}' are not training rows: each must be a JSON object with ` +
      `'responses_create_params' (lines ${bad.text()}). Nothing was uploaded.`,
  );
}

function isTrainingRow(line: Line): boolean {
  if (line === null) return false;
  try {
    const row = loadsPlain(line, { allowNonFinite: true });
    return isObject(row) && Object.hasOwn(row, "responses_create_params");
  } catch {
    // The caller lists the line among the bad ones.
    return false;
  }
}
