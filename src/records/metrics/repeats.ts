import { mean, medianOfSorted, quantileOfSorted, sampleDeviation } from "./descriptive.ts";
import { tQuantile } from "./distributions.ts";
import { isComparable } from "./key-metrics.ts";
import type { Row } from "./rollout-row.ts";
import type { RolloutTable } from "./rollout-table.ts";

/** Student's t-interval of a mean; undefined for a single value, a point if the values do not vary. */
function interval(average: number, error: number, count: number): [number, number] | undefined {
  if (count < 2) return undefined;
  if (error === 0) return [average, average];
  const reach = tQuantile(0.975, count - 1) * error;
  return [average - reach, average + reach];
}

/** One record per rollout index: the statistics of the tasks that have it. Empty unless there are several indices. */
export function repeatMetrics(table: RolloutTable): Row[] {
  const repeats = table.repeats();
  if (repeats.length < 2) return [];
  const tasks = [...table.tasks()].length;
  // Names are built once, not for every repeat: there may be thousands.
  const keys = new Map<string, ReturnType<typeof keysOf>>();
  return repeats.map(({ rolloutIndex, rows }) => {
    const record: Row = {
      _ng_rollout_index: rolloutIndex,
      sample_count: rows.length,
      missing_count: tasks - rows.length,
    };
    for (const [name, values] of table.valuesOf(rows)) {
      let key = keys.get(name);
      if (!key) {
        key = keysOf(name);
        keys.set(name, key);
      }
      describe(record, key, values);
    }
    return record;
  });
}

function keysOf(name: string) {
  return {
    mean: `mean/${name}`,
    median: `median/${name}`,
    std: `std/${name}`,
    sem: `sem/${name}`,
    min: `min/${name}`,
    max: `max/${name}`,
    p25: `p25/${name}`,
    p75: `p75/${name}`,
    low: `ci_low_95/${name}`,
    high: `ci_high_95/${name}`,
  };
}

function describe(record: Row, key: ReturnType<typeof keysOf>, sorted: Float64Array): void {
  const average = mean(sorted);
  const deviation = sorted.length === 1 ? 0 : sampleDeviation(sorted, average);
  const error = deviation / Math.sqrt(sorted.length);
  record[key.mean] = average;
  record[key.median] = medianOfSorted(sorted);
  record[key.std] = deviation;
  record[key.sem] = error;
  record[key.min] = sorted[0];
  record[key.max] = sorted[sorted.length - 1];
  record[key.p25] = quantileOfSorted(sorted, 0.25);
  record[key.p75] = quantileOfSorted(sorted, 0.75);
  const [low, high] = interval(average, error, sorted.length) ?? [];
  if (low === undefined) return;
  record[key.low] = low;
  record[key.high] = high;
}

/** How the comparable values of repeats vary: `mean_across_repeats/mean/reward` and others. */
export function acrossRepeats(repeats: readonly Row[]): Row {
  const found: Row = {};
  const names = new Set<string>();
  for (const repeat of repeats) for (const name of Object.keys(repeat)) names.add(name);
  for (const name of names) {
    // Most names are measures of spread: their values are not collected.
    const first = repeats.find((repeat) => typeof repeat[name] === "number");
    if (!isComparable(name, first?.[name])) continue;
    const values = repeats.map((repeat) => repeat[name]).filter((value) => typeof value === "number");
    const sorted = Float64Array.from(values).sort();
    const average = mean(values);
    const deviation = values.length === 1 ? 0 : sampleDeviation(values, average);
    const error = deviation / Math.sqrt(values.length);
    const [low, high] = interval(average, error, values.length) ?? [];
    Object.assign(found, {
      [`mean_across_repeats/${name}`]: average,
      [`median_across_repeats/${name}`]: medianOfSorted(sorted),
      [`std_across_repeats/${name}`]: deviation,
      [`min_across_repeats/${name}`]: sorted[0],
      [`max_across_repeats/${name}`]: sorted[sorted.length - 1],
      [`se_across_repeats/${name}`]: error,
      ...(low !== undefined && {
        [`ci_low_95_across_repeats/${name}`]: low,
        [`ci_high_95_across_repeats/${name}`]: high,
      }),
    });
  }
  return found;
}
