import type { Check } from "../audit.ts";
import { findingOf } from "../audit.ts";
import type { Finding } from "../report.ts";
import type { Attempt, Outcome } from "../rollout.ts";
import { differenceOf, telltaleAttempts } from "./determinism.ts";

export const orderCheck: Check = {
  name: "verification-order-independent",
  title: "What came before does not change a result",
  async run(audit) {
    const work = [...audit.rows.keys()].flatMap((index) =>
      telltaleAttempts(audit, index).map((attempt): Work => ({ index, attempt })),
    );
    const inOrder = await audit.withServer("reject", (server) =>
      inSequence(work, ({ index, attempt }) => audit.rollout(index, attempt, { server })),
    );
    const backwards = await audit.withServer("reject", (server) =>
      inSequence(work.toReversed(), ({ index, attempt }) => audit.rollout(index, attempt, { server })),
    );
    const findings: Finding[] = [];
    for (const [at, { index, attempt }] of work.entries()) {
      const [first, second] = [inOrder[at], backwards.at(-1 - at)];
      const difference = first && second && differenceOf(first, second, audit);
      if (first === undefined || difference === undefined) continue;
      findings.push(findingOf(`In reverse order the result differs: ${difference}.`, index, attempt, first));
    }
    return { findings, note: `${work.length} rollouts, forwards and backwards` };
  },
};

interface Work {
  readonly index: number;
  readonly attempt: Attempt;
}

async function inSequence(work: readonly Work[], run: (item: Work) => Promise<Outcome>): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const item of work) outcomes.push(await run(item));
  return outcomes;
}
