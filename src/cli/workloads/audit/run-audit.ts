import { AuditError } from "../errors.ts";
import {
  Audit,
  type AuditReport,
  type AuditTarget,
  type Check,
  type CheckReport,
  type CheckResult,
} from "./audit.ts";
import { determinismCheck, isolationCheck, orderCheck } from "./checks/determinism.ts";
import { nearMissCheck, rewritingCheck } from "./checks/edited-answers.ts";
import { exampleDataCheck, exampleMetricsCheck } from "./checks/example-data.ts";
import { injectionCheck, judgeFailureCheck } from "./checks/judge.ts";
import { malformedCheck } from "./checks/malformed.ts";
import { goldCheck, nonsenseCheck, rewardRangeCheck } from "./checks/rewards.ts";
import { speedCheck } from "./checks/speed.ts";
import type { AuditSettings } from "./settings.ts";

/** Maximum number of findings in the report of a check. The others are counted. */
const MAX_FINDINGS = 20;

/** All checks, in the order of the report. */
export const checks: readonly Check[] = [
  exampleDataCheck,
  exampleMetricsCheck,
  goldCheck,
  nonsenseCheck,
  nearMissCheck,
  rewritingCheck,
  rewardRangeCheck,
  determinismCheck,
  orderCheck,
  isolationCheck,
  malformedCheck,
  speedCheck,
  judgeFailureCheck,
  injectionCheck,
];

export interface AuditOptions extends AuditTarget {
  /** Names of the checks to run. Default: all. */
  readonly only?: readonly string[];
  /** The checks to choose from. Default: those of the audit. */
  readonly checks?: readonly Check[];
  /** Called before each step, so that the parent process can report where the work hung. */
  readonly onProgress?: (what: string) => void;
}

/** Runs the checks on one resources server. */
export async function auditServer(options: AuditOptions): Promise<AuditReport> {
  const { server, settings, rows, dataset, onProgress } = options;
  const reports: CheckReport[] = [];
  for (const check of chosenChecks(options.checks ?? checks, options.only)) {
    const audit = new Audit(options, (what) => onProgress?.(`${check.name}: ${what}`));
    onProgress?.(check.name);
    reports.push(reportOf(check, await check.run(audit), settings));
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

function chosenChecks(all: readonly Check[], only: readonly string[] | undefined): readonly Check[] {
  if (only === undefined || only.length === 0) return all;
  const names = all.map(({ name }) => name);
  const unknown = only.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new AuditError(`Unknown check: ${unknown.join(", ")}. Checks: ${names.join(", ")}.`);
  }
  return all.filter(({ name }) => only.includes(name));
}

function reportOf({ name }: Check, result: CheckResult, { waivers }: AuditSettings): CheckReport {
  const findings = result.findings
    .slice(0, MAX_FINDINGS)
    .map((finding) => ({ ...finding, evidence: shorten(finding.evidence) as Record<string, unknown> }));
  const hidden = result.findings.length - findings.length;
  const shown = hidden === 0 ? result : { ...result, note: `${hidden} further findings are not shown` };
  const report = { check: name, ...shown, findings };
  if (result.skipped !== undefined) return { ...report, status: "skipped" };
  if (findings.length === 0) return { ...report, status: "passed" };
  const waiver = waivers.find(
    ({ check, minimum }) => check === name && (minimum === undefined || (result.score ?? 0) >= minimum),
  );
  return waiver === undefined
    ? { ...report, status: "failed" }
    : { ...report, status: "waived", waiver: waiver.reason };
}

const MAX_EXCERPT = 300;
const MAX_ITEMS = 20;

/** Cuts long texts and lists in evidence and marks the cuts. */
function shorten(value: unknown): unknown {
  if (typeof value === "string") {
    return value.length > MAX_EXCERPT
      ? `${value.slice(0, MAX_EXCERPT)}… (${value.length} characters)`
      : value;
  }
  if (Array.isArray(value)) {
    const kept = value.slice(0, MAX_ITEMS).map(shorten);
    return value.length > MAX_ITEMS ? [...kept, `… (${value.length} items)`] : kept;
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shorten(member)]));
}
