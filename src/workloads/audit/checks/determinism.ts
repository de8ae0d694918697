import { isDeepStrictEqual } from "node:util";
import { messageItem } from "../../../hosting/response-items.ts";
import { type Audit, type Check, findingOf, sameReward } from "../audit.ts";
import { goldAttempts } from "../gold.ts";
import { randomToolAttempt, toolsOf } from "../policies.ts";
import type { Finding } from "../report.ts";
import type { Attempt, Outcome } from "../rollout.ts";

/** Attempts with something in them to be scored: the right answer, and tool calls or a wrong one. */
export function telltaleAttempts({ rows, settings }: Audit, index: number): Attempt[] {
  const row = rows[index] ?? {};
  const [gold] = goldAttempts(row, index, settings.gold);
  const tools = toolsOf(row).length > 0 && settings.call_tools;
  const other: Attempt = tools
    ? randomToolAttempt(row, `determinism ${index}`)
    : { policy: "wrong answer", items: [messageItem("Perhaps it is 7.\nAnswer: 7\n\\boxed{7}")] };
  return gold === undefined ? [other] : [gold, other];
}

export const determinismCheck: Check = {
  name: "verification-deterministic",
  title: "The same rollout gets the same result every time",
  async run(audit) {
    const findings: Finding[] = [];
    for (const index of audit.rows.keys()) {
      for (const attempt of telltaleAttempts(audit, index)) {
        const first = await audit.rollout(index, attempt);
        const second = await audit.rollout(index, attempt);
        const difference = differenceOf(first, second);
        if (difference === undefined) continue;
        const finding = findingOf(`Two runs differ: ${difference}.`, index, attempt, first);
        findings.push({ ...finding, evidence: { ...finding.evidence, again: second.result } });
      }
    }
    return { findings };
  },
};

/** Where two outcomes of the same rollout differ. */
export function differenceOf(a: Outcome, b: Outcome): string | undefined {
  if (a.status !== b.status) return `status ${a.status} and ${b.status}`;
  if (!sameReward(a.reward, b.reward)) return `reward ${a.reward} and ${b.reward}`;
  const call = a.toolReplies.findIndex((reply, at) => reply.text !== b.toolReplies[at]?.text);
  if (call >= 0) return `the reply of the tool '${a.toolReplies[call]?.name}'`;
  const keys = new Set([...Object.keys(a.result), ...Object.keys(b.result)]);
  const key = [...keys].find((name) => !isDeepStrictEqual(a.result[name], b.result[name]));
  return key === undefined ? undefined : `the field '${key}'`;
}
