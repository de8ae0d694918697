import { metricsContent } from "../../datasets/statistics/metrics-file.ts";
import { DatasetStatistics, RESERVED_FIELDS } from "../../datasets/statistics/statistics.ts";
import { dumps } from "../../python/json/json-dumps.ts";
import { copyWith, orderedKeys } from "../../python/json/key-order.ts";
import { PyFloat } from "../../python/numbers/py-float.ts";

type Row = Record<string, unknown>;
type Kind = "text" | "number";

/**
 * The dataset statistics of a rollouts file, row by row. Fields that hold text in one place and numbers in another, or bear the name of a
 * built-in statistic, stop `gym dataset collate`; a viewer leaves them out and says so.
 */
export class DatasetPanel {
  readonly #statistics = new DatasetStatistics();
  readonly #kinds = new Map<string, Kind>();
  readonly #leftOut = new Map<string, string>();

  observe(row: Row, params: Row): void {
    let counted = row;
    for (const name of orderedKeys(row)) {
      if (name === "responses_create_params" || name === "response") continue;
      this.#check(name, row[name]);
      if (!this.#leftOut.has(name)) continue;
      if (counted === row) counted = copyWith(row);
      delete counted[name];
    }
    this.#statistics.observe(counted, params);
  }

  /** The statistics as the metrics files have them, as indented JSON, and the fields left out with the reason. */
  result(): { json: string; leftOut: { field: string; reason: string }[] } {
    const summary = this.#statistics.summary();
    const fields = new Map([...summary.fields].filter(([name]) => !this.#leftOut.has(name)));
    return {
      json: dumps(metricsContent({}, { ...summary, fields }), { indent: 4, ensureAscii: false }),
      leftOut: [...this.#leftOut].map(([field, reason]) => ({ field, reason })),
    };
  }

  #check(name: string, value: unknown): void {
    if (this.#leftOut.has(name)) return;
    for (const item of Array.isArray(value) ? value : [value]) {
      const kind = kindOf(item);
      if (kind === undefined) continue;
      const known = this.#kinds.get(name);
      if (RESERVED_FIELDS.has(name)) this.#leftOut.set(name, "has the name of a built-in statistic");
      else if (known === undefined) this.#kinds.set(name, kind);
      else if (known !== kind) this.#leftOut.set(name, "holds text in some places and numbers in others");
    }
  }
}

function kindOf(value: unknown): Kind | undefined {
  if (typeof value === "string") return "text";
  // Floats and big integers come as objects from the exact reader.
  const number = typeof value === "number" || typeof value === "boolean" || typeof value === "bigint";
  return number || value instanceof PyFloat ? "number" : undefined;
}
