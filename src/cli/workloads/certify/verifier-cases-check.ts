import { existsSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type AuditFinding, type Check, sameReward } from "../audit/audit.ts";
import { type ServerUnderAudit, startServer } from "../audit/audited-server.ts";
import { CASES_FILE, readCases, type VerifierCase } from "../verifier-cases/cases.ts";
import { type Observation, replayCase } from "../verifier-cases/replay-case.ts";

export const verifierCasesCheck: Check = {
  name: "verifier-cases-pass",
  title: "Every verifier case gets its reward",
  async run({ server }) {
    const cases = casesOf(server.directory);
    if (cases.length === 0) return { findings: [], skipped: `there is no ${CASES_FILE}` };
    const findings: AuditFinding[] = [];
    for (const found of cases) {
      const seen = await replay(server, found);
      if (!failsCase(found, seen)) continue;
      const wanted = found.kind === "malformed" ? "an error" : found.expected_reward;
      const result = "error" in seen ? `the error '${seen.error}'` : `the reward ${seen.reward}`;
      findings.push({
        message: `${CASES_FILE}:${found.line} '${found.name}' gets ${result} instead of ${wanted}.`,
        evidence: { request: found.request },
      });
    }
    return { findings, note: `${cases.length} cases`, measured: { cases: cases.length } };
  },
};

/** The verifier cases of a server; empty if there is no file. */
export function casesOf(directory: string): readonly VerifierCase[] {
  const file = path.join(directory, CASES_FILE);
  return existsSync(file) ? readCases(file) : [];
}

/** What a fresh copy of the server replies to a case. */
export async function replay(server: ServerUnderAudit, found: VerifierCase): Promise<Observation> {
  const { definition } = server;
  const started = await startServer(server, found.kind === "zero_reward" ? "reject" : "accept", () => {});
  try {
    const kind = definition.type === "resources_servers" ? definition.kind : "standard";
    return await replayCase(started, found.request, kind);
  } finally {
    await started.close();
  }
}

export function failsCase(found: VerifierCase, seen: Observation): boolean {
  if (found.kind !== "malformed") return "error" in seen || !sameValue(seen.reward, found.expected_reward);
  return !("error" in seen) || !seen.error.includes(found.expected_error ?? "");
}

export function sameValue(a: unknown, b: unknown): boolean {
  return typeof a === "number" && typeof b === "number" ? sameReward(a, b) : isDeepStrictEqual(a, b);
}
