import { type Check, findingOf } from "../audit.ts";
import { goldAttempts } from "../gold.ts";
import { randomToolAttempt, toolsOf } from "../policies.ts";
import type { Finding } from "../report.ts";
import type { Attempt } from "../rollout.ts";
import { differenceOf, telltaleAttempts } from "./determinism.ts";

/** Rollouts of each row that run at the same time. */
const SESSIONS_PER_ROW = 3;

export const isolationCheck: Check = {
  name: "sessions-isolated",
  title: "Rollouts that run at the same time do not see one another",
  async run(audit) {
    const { settings } = audit;
    const work = [...audit.rows.entries()].flatMap(([index, row]) => {
      const attempts: Attempt[] = [...telltaleAttempts(audit, index)];
      for (let session = 0; session < SESSIONS_PER_ROW && settings.call_tools; session++) {
        if (toolsOf(row).length > 0) attempts.push(randomToolAttempt(row, `session ${index} ${session}`));
      }
      const [gold] = goldAttempts(row, index, settings.gold);
      if (gold !== undefined) attempts.push(gold);
      return attempts.map((attempt) => ({ index, attempt }));
    });
    const alone = [];
    for (const { index, attempt } of work) alone.push(await audit.rollout(index, attempt));
    const together = await audit.withServer("reject", (server) =>
      Promise.all(work.map(({ index, attempt }) => audit.rollout(index, attempt, { server }))),
    );
    const findings: Finding[] = [];
    for (const [at, { index, attempt }] of work.entries()) {
      const [first, second] = [alone[at], together[at]];
      const difference = first && second && differenceOf(first, second, audit);
      if (second === undefined || difference === undefined) continue;
      findings.push(
        findingOf(
          `Beside ${work.length - 1} others the result differs: ${difference}.`,
          index,
          attempt,
          second,
        ),
      );
    }
    return { findings, note: `${work.length} sessions at once` };
  },
};
