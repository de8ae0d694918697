import { messageItem } from "../../../../servers/hosting/light-door.ts";
import { type Audit, type AuditFinding, type Check, findingOf } from "../audit.ts";
import type { AuditAttempt, AuditOutcome } from "../rollout.ts";
import { telltaleAttempts } from "./determinism.ts";

/** The fastest of several runs counts, so that other load on the machine matters less. */
const RUNS = 4;
const LARGE: AuditAttempt = {
  policy: "a megabyte of words",
  items: [messageItem("some words. ".repeat(90_000))],
};

export const speedCheck: Check = {
  name: "verification-fast",
  title: "Verification is fast and does not block the event loop",
  async run(audit) {
    const { loop_ms, verify_ms, large_answer_ms } = audit.settings.limits;
    const { definition } = audit.server;
    const pooled =
      definition.type === "resources_servers" &&
      definition.kind === "standard" &&
      definition.options.verifyIn === "pool";
    const findings: AuditFinding[] = [];
    let slowest = 0;
    for (const index of audit.rows.keys()) {
      for (const attempt of telltaleAttempts(audit, index)) {
        const outcome = await fastest(audit, index, attempt);
        const { verifyMs, loopMs } = outcome;
        slowest = Math.max(slowest, verifyMs);
        if (!pooled && loopMs > loop_ms) {
          const message = `It blocks the event loop for ${loopMs.toFixed(0)} ms (at most ${loop_ms}); use verifyIn: "pool".`;
          findings.push(findingOf(message, index, attempt, outcome));
        } else if (verifyMs > verify_ms) {
          findings.push(
            findingOf(`It takes ${verifyMs.toFixed(0)} ms (at most ${verify_ms}).`, index, attempt, outcome),
          );
        }
      }
    }
    const large = await fastest(audit, 0, LARGE);
    if (large.verifyMs > large_answer_ms) {
      const message = `A megabyte takes ${large.verifyMs.toFixed(0)} ms (at most ${large_answer_ms}).`;
      findings.push(findingOf(message, 0, LARGE, large));
    }
    return { findings, note: `slowest ${slowest.toFixed(1)} ms, a megabyte ${large.verifyMs.toFixed(0)} ms` };
  },
};

function fastest(audit: Audit, index: number, attempt: AuditAttempt): Promise<AuditOutcome> {
  return audit.withServer("reject", async (server) => {
    let best = await audit.rollout(index, attempt, { server });
    for (let run = 1; run < RUNS; run++) {
      const next = await audit.rollout(index, attempt, { server });
      if (next.loopMs < best.loopMs) best = next;
    }
    return best;
  });
}
