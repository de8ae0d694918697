import type { JsonObject } from "../../../../base/python/json/door.ts";
import { messageItem } from "../../../../servers/hosting/light-door.ts";
import {
  type Audit,
  type AuditFinding,
  type Check,
  type CheckResult,
  findingOf,
  sameReward,
} from "../audit.ts";
import { nearMisses, type RightAnswer, rewritings } from "../edits.ts";
import { declaredTexts, goldAttempts, optionsOf, rightAnswerOf } from "../policies.ts";
import type { AuditAttempt, AuditOutcome } from "../rollout.ts";
import type { EditSettings } from "../settings.ts";

/** Maximum number of edits of one row with the same name. */
const SAME_EDITS = 4;

export const nearMissCheck: Check = {
  name: "near-miss-loses",
  title: "A right answer with one thing changed earns less",
  run: (audit) =>
    tryEdits(audit, audit.settings.near_misses, {
      edited: (answer, row) =>
        nearMisses(answer, { options: optionKeys(row), comparesCalls: !audit.keepsState }),
      judge: "reject",
      problemOf: ({ reward }, gold) =>
        reward !== undefined && reward >= gold && !sameReward(gold, audit.settings.reward.minimum)
          ? `It earns ${reward}, as much as the right answer.`
          : undefined,
    }),
};

export const rewritingCheck: Check = {
  name: "rewriting-keeps",
  title: "A right answer in another form earns as much",
  run: (audit) =>
    tryEdits(audit, audit.settings.rewritings, {
      edited: rewritings,
      judge: "accept",
      problemOf: ({ reward, status }, gold) =>
        sameReward(reward, gold)
          ? undefined
          : `It earns ${reward ?? `no reward (status ${status})`} instead of ${gold}.`,
    }),
};

interface EditCheck {
  edited(answer: RightAnswer, row: JsonObject): AuditAttempt[];
  readonly judge: "accept" | "reject";
  problemOf(outcome: AuditOutcome, gold: number): string | undefined;
}

async function tryEdits(audit: Audit, settings: EditSettings, check: EditCheck): Promise<CheckResult> {
  const findings: AuditFinding[] = [];
  const free = new Set(audit.settings.free_rows.map(({ row }) => row - 1));
  const excepted = new Map(settings.except.map(({ edit, reason }) => [edit, reason]));
  const met = new Set<string>();
  let tried = 0;
  let rows = 0;
  for (const [index, row] of audit.rows.entries()) {
    const gold = free.has(index) ? undefined : await winningAnswer(audit, index);
    if (gold === undefined) continue;
    const texts = declaredTexts(row, index, settings);
    const attempts = [
      ...limited(check.edited(gold.answer, row)),
      ...texts.map((text) => ({ policy: "answer of audit.yaml", items: [messageItem(text)] })),
    ];
    if (attempts.length > 0) rows++;
    for (const attempt of attempts) {
      const outcome = await audit.rollout(index, attempt, { judge: check.judge });
      tried++;
      const problem = check.problemOf(outcome, gold.reward);
      if (problem === undefined) continue;
      if (excepted.has(attempt.policy)) met.add(attempt.policy);
      else findings.push(findingOf(problem, index, attempt, outcome));
    }
  }
  if (tried === 0) return { findings, skipped: "no right answer is known that can be edited" };
  const accepted = [...met].map((edit) => `${edit}: ${excepted.get(edit)}`);
  return {
    findings,
    note: [`${tried} edits of ${rows} rows`, ...accepted].join("; "),
    measured: { edits: tried, rows, excepted: [...met] },
  };
}

/** The first right answer that earns the maximum, and its reward. */
async function winningAnswer(
  audit: Audit,
  index: number,
): Promise<{ answer: RightAnswer; reward: number } | undefined> {
  const { gold, reward } = audit.settings;
  const row = audit.rows[index] ?? {};
  for (const attempt of goldAttempts(row, index, gold)) {
    const outcome = await audit.rollout(index, attempt, { judge: "accept" });
    if (!sameReward(outcome.reward, reward.maximum)) continue;
    return { answer: rightAnswerOf(attempt, gold === undefined), reward: reward.maximum };
  }
  return undefined;
}

function limited(attempts: readonly AuditAttempt[]): AuditAttempt[] {
  const counts = new Map<string, number>();
  return attempts.filter(({ policy }) => {
    const count = (counts.get(policy) ?? 0) + 1;
    counts.set(policy, count);
    return count <= SAME_EDITS;
  });
}

function optionKeys(row: JsonObject): string[] {
  return optionsOf(row).map(([key]) => key);
}
