import { type Check, findingOf, sameReward } from "../audit.ts";
import { goldAttempts } from "../gold.ts";
import { degenerateAttempts } from "../policies.ts";
import type { Finding } from "../report.ts";
import type { Outcome } from "../rollout.ts";

/** A field such as `target` may then describe the state to reach: it was only a guess that it is the text to answer. */
const STATE =
  "no answer taken from a row earns anything, and the environment has tools or sessions; describe the right answer under `gold` in audit.yaml";

export const goldCheck: Check = {
  name: "gold-earns-maximum",
  title: "The right answer earns the maximum",
  async run(audit) {
    const { minimum, maximum } = audit.settings.reward;
    const findings: Finding[] = [];
    let known = 0;
    let earnsSomething = false;
    for (const [index, row] of audit.rows.entries()) {
      const attempts = goldAttempts(row, index, audit.settings.gold);
      if (attempts.length === 0) continue;
      known++;
      let best: { outcome: Outcome; attempt: (typeof attempts)[number] } | undefined;
      for (const attempt of attempts) {
        const outcome = await audit.rollout(index, attempt, { judge: "accept" });
        if (best === undefined || (outcome.reward ?? -Infinity) > (best.outcome.reward ?? -Infinity)) {
          best = { outcome, attempt };
        }
        if (sameReward(outcome.reward, maximum)) break;
      }
      if ((best?.outcome.reward ?? minimum) > minimum) earnsSomething = true;
      if (best === undefined || sameReward(best.outcome.reward, maximum)) continue;
      const { attempt, outcome } = best;
      const earned = outcome.reward ?? `no reward (status ${outcome.status})`;
      findings.push(
        findingOf(`The right answer earns ${earned} instead of ${maximum}.`, index, attempt, outcome),
      );
    }
    if (known === 0) {
      return { findings, skipped: "no row has its right answer; describe it under `gold` in audit.yaml" };
    }
    if (!earnsSomething && audit.settings.gold === undefined && audit.keepsState)
      return { findings: [], skipped: STATE };
    return { findings, note: `${known} of ${audit.rows.length} rows` };
  },
};

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

export const rewardRangeCheck: Check = {
  name: "reward-in-range",
  title: "Every reward is a number within the range",
  async run(audit) {
    const { reward, gold, call_tools } = audit.settings;
    const findings: Finding[] = [];
    for (const [index, row] of audit.rows.entries()) {
      const attempts = [
        ...goldAttempts(row, index, gold).slice(0, 1),
        ...degenerateAttempts(row, index, call_tools),
      ];
      for (const attempt of attempts) {
        const outcome = await audit.rollout(index, attempt);
        if (outcome.status >= 300) continue;
        const given = outcome.reward;
        if (given !== undefined && given >= reward.minimum && given <= reward.maximum) continue;
        const range = `${reward.minimum} to ${reward.maximum}`;
        findings.push(
          findingOf(
            `The reward ${given ?? "is missing, which"} is not in ${range}.`,
            index,
            attempt,
            outcome,
          ),
        );
      }
    }
    return { findings };
  },
};
