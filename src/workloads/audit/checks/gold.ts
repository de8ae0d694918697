import { type Check, findingOf, sameReward } from "../audit.ts";
import { goldAttempts } from "../gold.ts";
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
