import type { RunSummary } from "./summarize.ts";

export interface Thresholds {
  readonly failUnder?: number | undefined;
  readonly minCoverage?: number | undefined;
}

/** The missed thresholds, one sentence each. */
export function missedThresholds(
  summary: RunSummary | undefined,
  { failUnder, minCoverage }: Thresholds,
): string[] {
  const missed: string[] = [];
  const { expected, ok } = summary?.coverage ?? { expected: 0, ok: 0 };
  if (minCoverage !== undefined && (expected === 0 || ok / expected < minCoverage))
    missed.push(`${ok} of ${expected} rollouts were scored, less than min_coverage ${minCoverage}.`);
  if (failUnder === undefined) return missed;
  const agents = summary?.agents ?? [];
  if (agents.length === 0) missed.push(`No reward was computed to compare with fail_under ${failUnder}.`);
  for (const { agent, statistics } of agents) {
    const reward = statistics?.reward.value;
    if (reward === undefined || !(reward >= failUnder))
      missed.push(
        `The mean reward of ${agent} is ${reward?.toFixed(4) ?? "unknown"}, less than fail_under ${failUnder}.`,
      );
  }
  return missed;
}
