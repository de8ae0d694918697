import { type Check, findingOf } from "../audit.ts";
import { degenerateAttempts } from "../policies.ts";
import type { Finding } from "../report.ts";

export const nonsenseCheck: Check = {
  name: "nonsense-earns-minimum",
  title: "Empty answers, refusals, echoes, all options at once and random calls earn the minimum",
  async run(audit) {
    const { reward, limits, call_tools, free_rows } = audit.settings;
    const free = new Set(free_rows.map(({ row }) => row - 1));
    const allowed = reward.minimum + limits.nonsense_reward;
    const findings: Finding[] = [];
    let rollouts = 0;
    for (const [index, row] of audit.rows.entries()) {
      if (free.has(index)) continue;
      for (const attempt of degenerateAttempts(row, index, call_tools)) {
        const outcome = await audit.rollout(index, attempt);
        rollouts++;
        if (outcome.reward === undefined || outcome.reward <= allowed) continue;
        findings.push(findingOf(`It earns ${outcome.reward}.`, index, attempt, outcome));
      }
    }
    return { findings, note: noteOf(rollouts, free_rows) };
  },
};

function noteOf(rollouts: number, free: readonly { row: number; reason: string }[]): string {
  const left = free.map(({ row, reason }) => `row ${row}: ${reason}`);
  return [`${rollouts} rollouts`, ...left].join("; ");
}
