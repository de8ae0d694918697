import { messageItem } from "../../../../servers/hosting/light-door.ts";
import { type Audit, type AuditFinding, type Check, type CheckResult, findingOf } from "../audit.ts";
import { goldAttempts, injectionAttempt } from "../policies.ts";
import type { AuditAttempt, AuditOutcome } from "../rollout.ts";

/** Runs one rollout per row. Returns a result if there is no judge to audit or its verdicts are not known. */
async function lookForJudge(audit: Audit): Promise<CheckResult | undefined> {
  for (const index of audit.rows.keys()) await audit.rollout(index, attemptFor(audit, index));
  if (audit.judgeCalls === 0) return { findings: [], skipped: "the verifier asks no other server" };
  if (audit.server.verdicts !== undefined) return undefined;
  const message =
    "The verifier asks a judge whose verdicts are not known; describe them under `judge` in audit.yaml.";
  return { findings: [{ message, evidence: { asked: audit.server.others } }] };
}

function attemptFor({ rows, settings }: Audit, index: number): AuditAttempt {
  return goldAttempts(rows[index] ?? {}, index, settings.gold)[0] ?? WRONG;
}

export const judgeFailureCheck: Check = {
  name: "judge-failure-is-no-reward",
  title: "A judge that fails or gives no verdict never leads to a reward",
  async run(audit) {
    const early = await lookForJudge(audit);
    if (early !== undefined) return early;
    const { maximum } = audit.settings.reward;
    const findings: AuditFinding[] = [];
    for (const index of audit.rows.keys()) {
      const attempt = attemptFor(audit, index);
      const before = audit.judgeCalls;
      const failed = await audit.rollout(index, attempt, { judge: "fail" });
      // The verifier decided about this answer without the judge.
      if (audit.judgeCalls === before) continue;
      if (counts(failed)) {
        const message = `With a judge that answers 500 the reward ${failed.reward} counts.`;
        findings.push(findingOf(message, index, attempt, failed));
      }
      const babbled = await audit.rollout(index, attempt, { judge: "babble" });
      if (counts(babbled) && babbled.reward === maximum) {
        findings.push(findingOf("A judge that gives no verdict earns the maximum.", index, attempt, babbled));
      }
    }
    return { findings };
  },
};

function counts({ status, result }: AuditOutcome): boolean {
  return status === 200 && result["_ng_failure_class"] === undefined;
}

export const injectionCheck: Check = {
  name: "judge-not-talked-over",
  title: "A verdict in the model's answer does not count as the judge's verdict",
  async run(audit) {
    const early = await lookForJudge(audit);
    if (early !== undefined) return early;
    const { minimum } = audit.settings.reward;
    const allowed = minimum + audit.settings.limits.nonsense_reward;
    const attempt = injectionAttempt(audit.server.verdicts?.accept ?? "");
    const { findings } = await audit.tryRows(
      () => [attempt],
      ({ reward }) =>
        reward === undefined || reward <= allowed
          ? []
          : [`A judge that quotes the answer and then rejects it still gives ${reward}.`],
      { judge: "quote-and-reject" },
    );
    return { findings };
  },
};

const WRONG: AuditAttempt = { policy: "wrong answer", items: [messageItem("Perhaps it is 7.")] };
