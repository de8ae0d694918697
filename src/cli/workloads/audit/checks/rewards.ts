import { type AuditFinding, type Check, findingOf, sameReward } from "../audit.ts";
import { degenerateAttempts, goldAttempts } from "../policies.ts";
import type { AuditAttempt, AuditOutcome } from "../rollout.ts";

/** In such an environment a field like `target` may describe the state to reach and not the text to answer. */
const STATE =
  "no answer taken from a row earns anything, and the environment has tools or sessions; describe the right answer under `gold` in audit.yaml";

export const goldCheck: Check = {
  name: "gold-earns-maximum",
  title: "The correct answer earns the maximum",
  async run(audit) {
    const { minimum, maximum } = audit.settings.reward;
    const findings: AuditFinding[] = [];
    let known = 0;
    let earnsSomething = false;
    for (const [index, row] of audit.rows.entries()) {
      const attempts = goldAttempts(row, index, audit.settings.gold);
      if (attempts.length === 0) continue;
      known++;
      let best: { outcome: AuditOutcome; attempt: AuditAttempt } | undefined;
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
    const { findings, rollouts } = await audit.tryRows(
      (row, index) => (free.has(index) ? [] : degenerateAttempts(row, index, call_tools)),
      ({ reward: earned }) => (earned === undefined || earned <= allowed ? [] : [`It earns ${earned}.`]),
    );
    const left = free_rows.map(({ row, reason }) => `row ${row}: ${reason}`);
    return { findings, note: [`${rollouts} rollouts`, ...left].join("; ") };
  },
};

export const rewardRangeCheck: Check = {
  name: "reward-in-range",
  title: "Every reward is a number within the range",
  async run(audit) {
    const { reward, gold, call_tools } = audit.settings;
    const { findings } = await audit.tryRows(
      (row, index) => [
        ...goldAttempts(row, index, gold).slice(0, 1),
        ...degenerateAttempts(row, index, call_tools),
      ],
      ({ status, reward: given }) => {
        if (status >= 300) return [];
        if (given !== undefined && given >= reward.minimum && given <= reward.maximum) return [];
        const range = `${reward.minimum} to ${reward.maximum}`;
        return [`The reward ${given ?? "is missing, which"} is not in ${range}.`];
      },
    );
    return { findings };
  },
};
