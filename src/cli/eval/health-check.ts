import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { RolloutError } from "../../records/errors.ts";
import { artifactPaths } from "../../records/files/door.ts";
import { checkHealth, type HealthReport, requireKnown } from "../../records/results/light-door.ts";
import type { HealthSetting } from "../../run/door.ts";
import type { CommandContext } from "../command.ts";
import { CommandKeysError, UsageError } from "../errors.ts";
import { shownPath } from "../files.ts";
import { rejectSurplusWords } from "../overrides.ts";

/** Maximum number of kinds of findings listed after a run; the reports have all of them. */
const MAX_ISSUES = 3;

/** Runs `gym eval health-check RUN`. `file` is the rollouts of a directory. */
export async function healthCheck(
  context: CommandContext,
  given: { run: string; file: string; workers: number | undefined; ignored: (string | undefined)[] },
): Promise<number> {
  const { io, out, err, json, signal, terminal } = context;
  rejectSurplusWords(context);
  const run = path.resolve(io.cwd, given.run);
  const found = await stat(run).catch(() => undefined);
  if (!found?.isDirectory() && !found?.isFile())
    throw new UsageError(`argument RUN: '${given.run}' is not a directory or a rollouts file`);
  const directory = found.isFile() ? path.dirname(run) : run;
  const rolloutsPath = found.isFile() ? run : path.resolve(directory, given.file);
  if (!(await stat(rolloutsPath).catch(() => undefined))?.isFile())
    throw new UsageError(
      `argument --rollouts-file: no file '${given.file}' in '${given.run}'; ${await runsIn(directory)}`,
    );
  const report = await checkHealth({
    rolloutsPath,
    directory,
    ignoredChecks: knownChecks(
      given.ignored.flatMap(idsOf),
      (message) => new UsageError(`argument --ignore-checks: ${message}`),
    ),
    workers: given.workers,
    onNotice: (text) => err(terminal.yellow(text)),
    signal,
  });
  if (json) out(JSON.stringify(report.summary));
  else for (const line of reportLines(report, context)) out(line);
  return 0;
}

/** The runs in a directory, for the message about a file that does not exist. */
async function runsIn(directory: string): Promise<string> {
  const names = await readdir(directory);
  const runs = names.filter(
    (name) => name.endsWith(".jsonl") && names.includes(path.basename(artifactPaths(name).manifest)),
  );
  return runs.length === 0 ? "name the rollouts of the run" : `its runs are ${runs.sort().join(", ")}`;
}

/** Keys about health checks of `eval run` and `eval aggregate`. */
interface HealthKeys {
  disable_health_check: boolean;
  health_check_workers: number | undefined;
  health_check_ignored_checks: unknown;
}

/** The ignored check ids of the keys; an unknown id is rejected before anything runs. */
export function ignoredChecks({
  health_check_ignored_checks: given,
}: Pick<HealthKeys, "health_check_ignored_checks">): readonly string[] {
  const ids = Array.isArray(given) ? given.map(String) : idsOf(given);
  return knownChecks(ids, (message) => new CommandKeysError(`invalid configuration: ${message}`));
}

/** The health check that the keys ask for; an unknown check id is rejected before anything runs. */
export function healthSetting(keys: HealthKeys): HealthSetting {
  const ignored = ignoredChecks(keys);
  return keys.disable_health_check ? false : { ignoredChecks: ignored, workers: keys.health_check_workers };
}

/** Prints the findings of a check after a run, if any. */
export function printHealth(report: HealthReport | undefined, context: CommandContext): void {
  if (report === undefined || report.summary.run.verdicts.unhealthy === 0) return;
  for (const line of ["", ...reportLines(report, context)]) context.err(context.terminal.yellow(line));
}

/** The event of `--json`. */
export function healthJsonEvent({ summary, summaryPath, verdictsPath }: HealthReport) {
  const { verdicts, issues } = summary.run;
  return { event: "health", verdicts, issues, quality_summary: summaryPath, rollout_verdicts: verdictsPath };
}

function reportLines({ summary, summaryPath }: HealthReport, context: CommandContext): string[] {
  const { verdicts, artifacts, ignored_checks: ignored, issues } = summary.run;
  const left = ignored.length > 0 ? ` (ignored: ${ignored.join(", ")})` : "";
  const found = Object.entries(issues)
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a);
  return [
    `Rollout health: ${artifacts.records} checked, ${verdicts.healthy} healthy, ${verdicts.unhealthy} unhealthy, ${verdicts.unobserved} unobserved${left}`,
    ...found.slice(0, MAX_ISSUES).map(([check, count]) => `  ${count} ${check}`),
    ...(found.length > MAX_ISSUES ? [`  … and ${found.length - MAX_ISSUES} other kinds`] : []),
    `Quality summary: ${shownPath(context, summaryPath)}`,
  ];
}

function idsOf(given: unknown): string[] {
  const ids = typeof given === "string" ? given.split(",") : [];
  return ids.map((id) => id.trim()).filter((id) => id !== "");
}

function knownChecks(ids: readonly string[], rejection: (message: string) => Error): readonly string[] {
  try {
    return requireKnown(ids);
  } catch (error) {
    throw error instanceof RolloutError ? rejection(error.message) : error;
  }
}
