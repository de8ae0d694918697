import { readLineBatches, readRows } from "../files/jsonl-rows.ts";
import { keyOfRow, materializedKey } from "../files/row-key.ts";
import { CoverageCounter } from "../metrics/coverage.ts";
import { runFileExists } from "../packed/run-file.ts";

export interface CoverageSources {
  /** Sidecars with the failed and the planned rollouts; missing files are skipped. */
  failures: readonly string[];
  materializedInputs: readonly string[];
  /** The planned rollouts, if no file lists them. */
  expected?: Iterable<readonly [taskIndex: number, rolloutIndex: number]>;
  signal?: AbortSignal;
}

/** The planned and failed rollouts, before the completed rollouts are counted. */
export async function coverageOf(options: CoverageSources): Promise<CoverageCounter> {
  const coverage = new CoverageCounter();
  for (const [taskIndex, rolloutIndex] of options.expected ?? [])
    coverage.expect({ taskIndex, rolloutIndex });
  for (const path of options.materializedInputs.filter((file) => runFileExists(file))) {
    for await (const batch of readLineBatches(path, { signal: options.signal })) {
      for (const line of batch) coverage.expect(materializedKey(path, line));
    }
  }
  for (const path of options.failures.filter((file) => runFileExists(file))) {
    const lenient = { signal: options.signal, skipBlank: true, onTornLine: () => {} };
    for await (const { row } of readRows(path, lenient)) if (keyOfRow(row)) coverage.fail(row);
  }
  return coverage;
}
