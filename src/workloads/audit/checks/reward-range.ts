import { type Check, findingOf } from "../audit.ts";
import { goldAttempts } from "../gold.ts";
import { degenerateAttempts } from "../policies.ts";
import type { Finding } from "../report.ts";

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
