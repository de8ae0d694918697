import { UsageError } from "../errors.ts";

/** Exit code of a command whose result misses a threshold. */
export const THRESHOLD_MISSED = 3;

interface Thresholds {
  readonly fail_under?: number;
  readonly min_coverage?: number;
  readonly disable_aggregation?: boolean;
}

/** Rejects thresholds on metrics that are not computed. */
export function checkThresholds({ fail_under, min_coverage, disable_aggregation }: Thresholds): void {
  if (disable_aggregation && (fail_under !== undefined || min_coverage !== undefined))
    throw new UsageError("--fail-under and --min-coverage need the metrics: leave out --disable-aggregation");
}
