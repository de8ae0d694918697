import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { AuditFinding, AuditTarget, Check, CheckReport, CheckResult } from "../audit/audit.ts";
import { checks as auditChecks, auditServer } from "../audit/run-audit.ts";
import type { Certificate, CheckEntry } from "./certificate.ts";
import { digestsOf } from "./certificate.ts";
import { contaminationCheck } from "./contamination-check.ts";
import { duplicateCheck, leakCheck } from "./leaks.ts";
import { checkTable, includes, type Level } from "./levels.ts";
import { type MutationResult, measureMutants } from "./mutation.ts";
import { statisticalChecks } from "./statistics.ts";
import { verifierCasesCheck } from "./verifier-cases-check.ts";

export interface CertifyOptions {
  readonly target: AuditTarget;
  readonly level: Level;
  /** Files with rows that must not overlap with those of the environment. */
  readonly against: readonly string[];
  /** Rollout files of existing runs, for the statistical level. */
  readonly runs: readonly string[];
  /** Maximum number of faults to try. 0 tries none. */
  readonly mutants: number;
  readonly hanging: readonly number[];
  readonly installRoot: string;
  readonly onProgress?: (what: string) => void;
}

export interface Certified {
  readonly config: string;
  readonly directory: string;
  readonly certificate: Certificate;
  readonly mutation?: MutationResult;
  /** All findings, with their evidence. */
  readonly reports: readonly CheckReport[];
}

/** The share of faults that the tests of a pure verifier should find. */
const WANTED_SCORE = 0.85;
/** Imports of code that runs programs: too slow for a fault at a time. */
const RUNS_PROGRAMS =
  /from "(?:nemo-gym\/(?:sandbox|code-runner)|node:child_process|[./]+libraries\/(?:swe|sql-answers)\/)/;

/** Certifies one server with one of its example datasets. */
export async function certifyServer(options: CertifyOptions): Promise<Certified> {
  const { target, level, installRoot } = options;
  const { directory } = target.server;
  let mutation: MutationResult | undefined;
  const mutationCheck: Check = {
    name: "mutation-score",
    title: "The tests of the verifier find faults that are put into it",
    async run() {
      if (options.mutants === 0) return { findings: [], skipped: "--mutants 0" };
      const entry = path.join(directory, "app.ts");
      const reason = notPure(entry);
      if (reason !== undefined) return { findings: [], skipped: reason };
      const { hanging, mutants: limit, onProgress } = options;
      mutation = await measureMutants({ target, entry, installRoot, limit, hanging, onProgress });
      return mutationResult(mutation, target.server.verdicts !== undefined);
    },
  };
  const all = [
    ...auditChecks,
    leakCheck,
    duplicateCheck,
    contaminationCheck(options.against),
    verifierCasesCheck,
    mutationCheck,
    ...statisticalChecks(options.runs),
  ].filter(({ name }) => includes(level, levelOf(name)));
  const report = await auditServer({ ...target, checks: all, onProgress: options.onProgress });
  const entries = report.checks.map(entryOf).sort((a, b) => order(a) - order(b));
  return {
    config: path.basename(target.configFile, ".yaml"),
    directory,
    mutation,
    reports: report.checks,
    certificate: {
      server: target.server.implementation,
      level,
      passed: report.passed,
      mutation_score: mutation?.score ?? null,
      digests: digestsOf(directory, target.configFile, target.dataset.file),
      checks: entries,
    },
  };
}

function levelOf(check: string): Level {
  return checkTable[check]?.level ?? "runtime";
}

function order({ check }: CheckEntry): number {
  return Object.keys(checkTable).indexOf(check);
}

/** Measured times are not part of a certificate, because they differ from run to run. */
function entryOf(report: CheckReport): CheckEntry {
  const { check, status, measured, skipped, waiver, findings } = report;
  const reason = skipped ?? waiver;
  return {
    check,
    level: levelOf(check),
    status,
    ...(measured !== undefined && { measured: { ...measured } }),
    ...(reason !== undefined && { reason }),
    ...(findings.length > 0 && {
      evidence: findings.map(({ message, row, policy }) => ({ row, policy, message })),
    }),
    ...(status === "failed" && { remedy: checkTable[check]?.remedy ?? "" }),
  };
}

function notPure(entry: string): string | undefined {
  if (!existsSync(entry)) return "the code of the server is not in app.ts";
  const folder = path.dirname(entry);
  const sources = readdirSync(folder).filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
  const impure = sources.some((file) => RUNS_PROGRAMS.test(readFileSync(path.join(folder, file), "utf8")));
  return impure ? "the verifier runs programs" : undefined;
}

/** Where a judge decides, its replies are made up, and no share is required. */
function mutationResult(result: MutationResult, asksJudge: boolean): CheckResult {
  const { survivors, score, killedBy: killed_by, goldenRows: golden_rows, ...counts } = result;
  const measured = { ...counts, score, golden_rows, killed_by };
  const percent =
    score === null ? "no faults to try" : `${(score * 100).toFixed(1)} % of ${result.tried - result.waived}`;
  if (score === null) return { findings: [], skipped: "the code has no place for a fault" };
  const findings: AuditFinding[] =
    score >= WANTED_SCORE || asksJudge
      ? []
      : survivors.map(({ file, line, operator, from, to, diff }) => ({
          message: `${file}:${line} (${operator}): ${short(from)} → ${short(to)}`,
          evidence: { from, to, diff },
        }));
  const aside = asksJudge ? "; a judge decides, so no share is required" : "";
  return { findings, note: `${percent}, ${survivors.length} survive${aside}`, measured, score };
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line === "" ? "(nothing)" : line;
}
