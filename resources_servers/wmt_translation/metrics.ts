import type { JsonObject, MetricsHooks } from "nemo-gym";
import { addChrfCounts, type ChrfCounts, chrf, chrfCounts } from "../../libraries/text-measures/chrf.ts";

/** The chrF of each run of one language pair. */
interface Pair {
  source: string;
  target: string;
  runs: number[];
}

/**
 * The chrF of all translations of a language pair together, averaged over the runs, and the macro averages over pairs with the
 * same source, the same target, and all of them (`xx`).
 */
export const translationMetrics: MetricsHooks = {
  compute(tasks) {
    const pairs = pairsOf(tasks);
    const groups = new Map<string, Pair[]>();
    for (const pair of pairs) {
      const { source, target } = pair;
      for (const name of [`${source}->${target}`, `${source}->xx`, `xx->${target}`, "xx->xx"])
        groups.set(name, [...(groups.get(name) ?? []), pair]);
    }
    const metrics: JsonObject = {};
    for (const [name, group] of groups) {
      const runs = (group[0]?.runs ?? []).map((_, run) => mean(group.map((pair) => pair.runs[run] ?? 0)));
      metrics[`${name}/chrF`] = mean(runs);
      metrics[`${name}/chrF_std_dev_across_runs`] = Math.sqrt(
        mean(runs.map((value) => (value - mean(runs)) ** 2)),
      );
    }
    return metrics;
  },
  key: (metrics) =>
    Object.fromEntries(Object.entries(metrics).filter(([name]) => /^xx->.*\/chrF$|^mean\//.test(name))),
};

/** Runs that not every task has are left out. */
function pairsOf(tasks: JsonObject[][]): Pair[] {
  const runCount = Math.min(...tasks.map((task) => task.length));
  const pairs = new Map<string, { source: string; target: string; counts: ChrfCounts[] }>();
  for (const task of tasks) {
    const source = String(task[0]?.["source_language"]);
    const target = String(task[0]?.["target_language"]);
    const counts = task.slice(0, runCount).map((row) => rowCounts(row));
    const pair = pairs.get(`${source}->${target}`);
    if (pair === undefined) pairs.set(`${source}->${target}`, { source, target, counts });
    else pair.counts = pair.counts.map((sum, run) => addChrfCounts(sum, counts[run] ?? []));
  }
  return [...pairs.values()].map(({ source, target, counts }) => ({
    source,
    target,
    runs: counts.map((count) => chrf(count)),
  }));
}

function rowCounts(row: JsonObject): ChrfCounts {
  const text = (key: string) => String(row[key] ?? "").normalize("NFC");
  return chrfCounts(text("generation"), text("translation"));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
