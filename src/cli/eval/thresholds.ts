import type { RunSummary } from "../../results/summarize.ts";
import { CommandKeysError, UsageError } from "../errors.ts";

/** Exit code of a command whose result misses a threshold. */
export const THRESHOLD_MISSED = 3;

interface Thresholds {
  readonly fail_under?: number;
  readonly min_coverage?: number;
  readonly disable_aggregation?: boolean;
}

/** Refuses impossible thresholds. */
export function checkThresholds({ fail_under, min_coverage, disable_aggregation }: Thresholds): void {
  if (min_coverage !== undefined && min_coverage > 1)
    throw new CommandKeysError("invalid configuration: min_coverage (must be a share from 0 to 1).");
  if (disable_aggregation && (fail_under !== undefined || min_coverage !== undefined))
    throw new UsageError("--fail-under and --min-coverage need the metrics: leave out --disable-aggregation");
}

/** The missed thresholds, one sentence each. */
export function missedThresholds(
  summary: RunSummary | undefined,
  { fail_under, min_coverage }: Thresholds,
): string[] {
  const missed: string[] = [];
  const { expected, ok } = summary?.coverage ?? { expected: 0, ok: 0 };
  if (min_coverage !== undefined && (expected === 0 || ok / expected < min_coverage))
    missed.push(`${ok} of ${expected} rollouts were scored, less than --min-coverage ${min_coverage}.`);
  if (fail_under === undefined) return missed;
  const agents = summary?.agents ?? [];
  if (agents.length === 0) missed.push(`No reward was computed to compare with --fail-under ${fail_under}.`);
  for (const { agent, statistics } of agents) {
    const reward = statistics?.reward.value;
    if (reward === undefined || !(reward >= fail_under))
      missed.push(
        `The mean reward of ${agent} is ${reward?.toFixed(4) ?? "unknown"}, less than --fail-under ${fail_under}.`,
      );
  }
  return missed;
}
