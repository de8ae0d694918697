import path from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { suggest } from "../../base/suggest.ts";
import { openCatalog } from "../catalog/listing.ts";
import type { CommandContext } from "../command.ts";
import { listingKeys } from "../config-keys.ts";
import { UsageError } from "../errors.ts";
import { namedConfig } from "../selectors.ts";
import type { AuditReport, CheckReport } from "../workloads/audit/audit.ts";
import { auditInProcess } from "../workloads/audit/audit-process.ts";
import { discoverResourcesServers } from "../workloads/catalog/components.ts";
import { auditKeys } from "./keys.ts";

interface Audited {
  readonly name: string;
  readonly reports: readonly AuditReport[];
  /** Why the report is missing. */
  readonly problem?: string;
}

const MARKS = { passed: "✓", failed: "✗", waived: "~", skipped: "-" } as const;
/** Maximum number of printed findings per check; `--json` has all. */
const SHOWN_FINDINGS = 5;

/** Runs `gym env audit`. */
export async function auditEnvironments(
  context: CommandContext,
  { only, excluded, evidence }: { only: readonly string[]; excluded: readonly string[]; evidence: boolean },
): Promise<number> {
  const keys = await listingKeys(context, auditKeys);
  const { component_name: name, limit } = keys;
  const targets =
    name === undefined
      ? allExcept(excluded, discoverResourcesServers(openCatalog(context)))
      : [{ name, configFile: await namedConfig(context, name) }];
  const { io, env, installRoot, signal, err, json, terminal } = context;
  const audited: Audited[] = [];
  for (const target of targets) {
    signal.throwIfAborted();
    try {
      const reports = await auditInProcess(
        { configFile: target.configFile, cwd: io.cwd, env: { ...env }, installRoot, limit, only },
        {
          signal,
          env,
          hangLimitMs: keys.rollout_timeout_seconds * 1000,
          onProgress: context.verbose ? (what) => err(terminal.dim(what)) : undefined,
        },
      );
      // Configs that only define parts have nothing to audit.
      if (reports.length === 0 && name === undefined) continue;
      const problem = reports.length === 0 ? "its config has no agent with example data." : undefined;
      audited.push({ name: target.name, reports, problem });
    } catch (error) {
      signal.throwIfAborted();
      audited.push({ name: target.name, reports: [], problem: errorMessage(error) });
    }
    const latest = audited.at(-1);
    if (!json && latest !== undefined) show(context, latest, evidence);
  }
  const failed = audited.filter(
    ({ reports, problem }) => problem !== undefined || reports.some((report) => !report.passed),
  );
  const passed = failed.length === 0;
  if (json) context.out(JSON.stringify({ passed, environments: audited }));
  else if (audited.length > 1) summarize(context, audited, failed);
  return passed ? 0 : 1;
}

function allExcept<T extends { readonly name: string }>(excluded: readonly string[], all: readonly T[]): T[] {
  const names = all.map(({ name }) => name);
  const unknown = excluded.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const close = suggest(unknown, names);
    throw new UsageError(
      `--exclude ${unknown}: no such environment.${close === undefined ? "" : ` Did you mean ${close}?`}`,
    );
  }
  return all.filter(({ name }) => !excluded.includes(name));
}

function show(context: CommandContext, { name, reports, problem }: Audited, evidence: boolean): void {
  const { out, terminal } = context;
  if (problem !== undefined) {
    out(`${terminal.bold(name)}\n  ${terminal.red("✗")} not audited: ${problem}\n`);
    return;
  }
  for (const report of reports) {
    const file = path.basename(report.dataset);
    out(`${terminal.bold(name)} (${report.server}, ${report.rows} rows of ${file})`);
    for (const check of report.checks) showCheck(context, check, evidence);
    for (const waiver of report.unusedWaivers) {
      out(`  ${terminal.yellow("!")} audit.yaml waives ${waiver}, but nothing was found`);
    }
    out("");
  }
}

function showCheck({ out, terminal }: CommandContext, report: CheckReport, evidence: boolean): void {
  const { check, status, findings, note, skipped, waiver } = report;
  const colour = {
    passed: terminal.green,
    failed: terminal.red,
    waived: terminal.yellow,
    skipped: terminal.dim,
  }[status];
  const aside = skipped ?? waiver ?? note;
  out(`  ${colour(MARKS[status])} ${check}${aside === undefined ? "" : terminal.dim(`: ${aside}`)}`);
  if (status !== "failed" && !evidence) return;
  for (const finding of findings.slice(0, SHOWN_FINDINGS)) {
    const where = [finding.row === undefined ? undefined : `row ${finding.row}`, finding.policy];
    const prefix = where.filter((part) => part !== undefined).join(", ");
    out(`      ${prefix === "" ? "" : `${prefix}: `}${finding.message}`);
    if (evidence) out(terminal.dim(indent(JSON.stringify(finding.evidence, null, 2))));
  }
  const hidden = findings.length - SHOWN_FINDINGS;
  if (hidden > 0) out(`      … and ${hidden} more`);
}

function indent(text: string): string {
  return text.replace(/^/gm, "        ");
}

function summarize(
  { out, terminal }: CommandContext,
  audited: readonly Audited[],
  failed: readonly Audited[],
): void {
  const reports = audited.flatMap((entry) => entry.reports);
  const waived = reports.filter(({ checks }) => checks.some(({ status }) => status === "waived"));
  out(
    `${audited.length} environments audited: ${audited.length - failed.length} passed` +
      `${waived.length === 0 ? "" : ` (${waived.length} with findings that audit.yaml explains)`}, ${failed.length} failed.`,
  );
  for (const { name } of failed) out(`  ${terminal.red("✗")} ${name}`);
}
