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
  return repeats.map(({ rolloutIndex, rows }) => {
    const record: Row = {
      _ng_rollout_index: rolloutIndex,
      sample_count: rows.length,
      missing_count: tasks - rows.length,
    };
    for (const [name, values] of table.valuesOf(rows)) Object.assign(record, described(name, values));
    return record;
  });
}

function described(name: string, sorted: Float64Array): Row {
  const average = mean(sorted);
  const deviation = sorted.length === 1 ? 0 : sampleDeviation(sorted, average);
  const error = deviation / Math.sqrt(sorted.length);
  const [low, high] = interval(average, error, sorted.length) ?? [];
  return {
    [`mean/${name}`]: average,
    [`median/${name}`]: medianOfSorted(sorted),
    [`std/${name}`]: deviation,
    [`sem/${name}`]: error,
    [`min/${name}`]: sorted[0],
    [`max/${name}`]: sorted[sorted.length - 1],
    [`p25/${name}`]: quantileOfSorted(sorted, 0.25),
    [`p75/${name}`]: quantileOfSorted(sorted, 0.75),
    ...(low !== undefined && { [`ci_low_95/${name}`]: low, [`ci_high_95/${name}`]: high }),
  };
}

/** How the comparable values of repeats vary: `mean_across_repeats/mean/reward` and others. */
export function acrossRepeats(repeats: readonly Row[]): Row {
  const found: Row = {};
  const names = new Set(repeats.flatMap((repeat) => Object.keys(repeat)));
  for (const name of names) {
    const values = repeats.map((repeat) => repeat[name]).filter((value) => typeof value === "number");
    if (!isComparable(name, values[0])) continue;
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
