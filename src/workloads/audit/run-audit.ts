import type { JsonObject } from "../../python/json/json-object.ts";
import { AuditError } from "../errors.ts";
import { Audit, type AuditedDataset, type Check } from "./audit.ts";
import type { ServerUnderAudit } from "./audited-server.ts";
import { determinismCheck, isolationCheck, orderCheck } from "./checks/determinism.ts";
import { exampleDataCheck, exampleMetricsCheck } from "./checks/example-data.ts";
import { injectionCheck, judgeFailureCheck } from "./checks/judge.ts";
import { malformedCheck } from "./checks/malformed.ts";
import { goldCheck, nonsenseCheck, rewardRangeCheck } from "./checks/rewards.ts";
import { speedCheck } from "./checks/speed.ts";
import { type AuditReport, type CheckReport, type CheckResult, shorten } from "./report.ts";
import type { AuditSettings } from "./settings.ts";

/** Findings shown of one check; the rest is counted. */
const MAX_FINDINGS = 20;

/** Everything an audit looks at, in the order of the report. */
export const checks: readonly Check[] = [
  exampleDataCheck,
  exampleMetricsCheck,
  goldCheck,
  nonsenseCheck,
  rewardRangeCheck,
  determinismCheck,
  orderCheck,
  isolationCheck,
  malformedCheck,
  speedCheck,
  judgeFailureCheck,
  injectionCheck,
];

export interface AuditOptions {
  readonly server: ServerUnderAudit;
  readonly configFile: string;
  readonly rows: readonly JsonObject[];
  readonly settings: AuditSettings;
  readonly dataset: AuditedDataset;
  /** Only these checks. */
  readonly only?: readonly string[];
  readonly signal?: AbortSignal;
  /** Called before each step, so that an observer can say where it hung. */
  readonly onProgress?: (what: string) => void;
}

/** Runs the checks over one resources server. */
export async function auditServer(options: AuditOptions): Promise<AuditReport> {
  const { server, settings, rows, dataset, onProgress, signal } = options;
  const reports: CheckReport[] = [];
  for (const check of chosenChecks(options.only)) {
    signal?.throwIfAborted();
    const audit = new Audit({
      server,
      rows,
      settings,
      dataset,
      onRollout: (what) => onProgress?.(`${check.name}: ${what}`),
    });
    onProgress?.(check.name);
    reports.push(judge(check, await check.run(audit), settings));
  }
  const used = new Set(reports.filter(({ status }) => status === "waived").map(({ check }) => check));
  const ran = new Set(reports.map(({ check }) => check));
  return {
    server: server.name,
    implementation: server.implementation,
    config: options.configFile,
    dataset: dataset.file,
    rows: rows.length,
    passed: reports.every(({ status }) => status !== "failed"),
    checks: reports,
    unusedWaivers: settings.waivers
      .map(({ check }) => check)
      .filter((check) => ran.has(check) && !used.has(check)),
  };
}

function chosenChecks(only: readonly string[] | undefined): readonly Check[] {
  if (only === undefined || only.length === 0) return checks;
  const names = checks.map(({ name }) => name);
  const unknown = only.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new AuditError(`There is no check called ${unknown.join(", ")}. There are: ${names.join(", ")}.`);
  }
  return checks.filter(({ name }) => only.includes(name));
}

function judge({ name }: Check, result: CheckResult, { waivers }: AuditSettings): CheckReport {
  const findings = result.findings
    .slice(0, MAX_FINDINGS)
    .map((finding) => ({ ...finding, evidence: shorten(finding.evidence) as Record<string, unknown> }));
  const hidden = result.findings.length - findings.length;
  const shown = hidden === 0 ? result : { ...result, note: `${hidden} further findings are not shown` };
  const report = { check: name, ...shown, findings };
  if (result.skipped !== undefined) return { ...report, status: "skipped" };
  if (findings.length === 0) return { ...report, status: "passed" };
  const waiver = waivers.find(({ check }) => check === name);
  return waiver === undefined
    ? { ...report, status: "failed" }
    : { ...report, status: "waived", waiver: waiver.reason };
}
