import { existsSync } from "node:fs";
import path from "node:path";
import { printable } from "../../base/door.ts";
import { errorMessage } from "../../base/errors.ts";
import { isObject } from "../../base/python/json/door.ts";
import { findExistingPath } from "../../config/paths.ts";
import { artifactPaths, readManifestLoosely } from "../../records/files/door.ts";
import {
  type CalibrationFile,
  type CalibrationRequirement,
  type CorrectedScore,
  correctedScore,
  parseRequirement,
  readCalibration,
  readJudgedRun,
  unmetRequirements,
} from "../../records/judges/door.ts";
import { correctedDifference } from "../../records/metrics/door.ts";
import type { FilesComparison } from "../../records/results/door.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { rolloutFile, shownPath } from "../files.ts";
import { countText } from "../render/progress.ts";
import { wrapText } from "../render/text-width.ts";

const FILE = "calibration.json";
const WIDTH = 76;

interface CalibrationKeys {
  judge_calibration?: string;
  require_calibration?: string;
}

/** What a command was asked about calibrations, checked before its work. */
export interface CalibrationSetting {
  given: CalibrationFile | undefined;
  requirement: CalibrationRequirement | undefined;
}

export async function calibrationSetting(
  context: CommandContext,
  { judge_calibration: file, require_calibration: required }: CalibrationKeys,
): Promise<CalibrationSetting> {
  const requirement = required === undefined ? undefined : parseRequirement(required);
  if (file === undefined) return { given: undefined, requirement };
  const absolute = await rolloutFile(context, file, "--calibration");
  const calibration = await readCalibration(absolute);
  if (!calibration) throw new UsageError(`argument --calibration: '${file}' does not exist`);
  return { given: { file: shownPath(context, absolute), calibration }, requirement };
}

export interface RunScores {
  scores: CorrectedScore[];
  calibrations: CalibrationFile[];
  /** Why the run does not meet the requirement. */
  unmet: string[];
}

/** The corrected scores of a run. The rollouts are only read if there is a calibration, or one is required. */
export async function correctedScores(
  context: CommandContext,
  rollouts: string,
  { given, requirement }: CalibrationSetting,
): Promise<RunScores> {
  const calibrations = given ? [given] : await foundCalibrations(context, rollouts);
  if (calibrations.length === 0 && requirement === undefined) return { scores: [], calibrations, unmet: [] };
  const { agents } = await readJudgedRun(rollouts, { signal: context.signal });
  const scores = agents.map((agent) => correctedScore(agent, calibrations));
  return {
    scores,
    calibrations,
    unmet: requirement ? unmetRequirements(scores, requirement, calibrations) : [],
  };
}

/** Calibrations next to the rollouts, and in the folders of the environments. One that cannot be read is a warning. */
async function foundCalibrations(context: CommandContext, rollouts: string): Promise<CalibrationFile[]> {
  const { config } = await readManifestLoosely(artifactPaths(rollouts).manifest);
  const servers = isObject(config) && isObject(config["servers"]) ? Object.values(config["servers"]) : [];
  const folders = servers.flatMap((server) =>
    isObject(server) && server["type"] === "resources_servers" ? [String(server["implementation"])] : [],
  );
  const places = [
    path.join(path.dirname(rollouts), FILE),
    ...new Set(
      folders.map((name) => findExistingPath(path.join("resources_servers", name, FILE), context.roots)),
    ),
  ];
  const found: CalibrationFile[] = [];
  for (const file of places) {
    if (file === undefined || !existsSync(file)) continue;
    try {
      const calibration = await readCalibration(file);
      if (calibration) found.push({ file: shownPath(context, file), calibration });
    } catch (error) {
      context.err(context.terminal.yellow(errorMessage(error)));
    }
  }
  return found;
}

/** One line for each score that a calibration is about. */
export function printCorrected(scores: readonly CorrectedScore[], { out, terminal }: CommandContext): void {
  for (const score of scores) {
    if (score.calibration === null) continue;
    const name = scores.length > 1 ? `${printable(score.agent)}: ` : "";
    if (!score.corrected || !score.raw) {
      for (const part of wrapText(
        `${name}no corrected score, because the calibration '${score.calibration}' is stale: ${score.stale.join("; ")}.`,
        WIDTH,
      ))
        out(terminal.yellow(`  ${part}`));
      continue;
    }
    if (name !== "") out(`  ${name}`);
    out(`  score as judged              ${share(score.raw)}`);
    out(`  score as people would judge  ${terminal.bold(share(score.corrected))}`);
    out(terminal.dim(`  ${aboutText(score)}`));
    if (!score.corrected.informative)
      out(terminal.yellow("  The verdicts of this judge say too little to correct them."));
  }
}

/** The corrected scores of two runs, and their difference; null where nothing corrects them. */
export function correctedOf(
  { runs, difference }: Pick<FilesComparison, "runs" | "difference">,
  scores: ReadonlyMap<string, RunScores>,
) {
  const [before, after] = [scores.get(runs.before.path), scores.get(runs.after.path)];
  if (!before?.scores.length && !after?.scores.length) return null;
  const scoreOf = (run: RunScores | undefined) => (run?.scores.length === 1 ? run.scores[0] : undefined);
  const [first, second] = [scoreOf(before), scoreOf(after)];
  const known = before?.calibrations.find(({ file }) => file === first?.calibration);
  // The calibration corrects verdicts. The difference of the rewards is one of verdicts if they are 0 or 1.
  const isOfVerdicts = [first, second].every((score) => score?.corrected && score.binary);
  const isSameJudge = first?.calibration === second?.calibration;
  return {
    before: before?.scores ?? [],
    after: after?.scores ?? [],
    difference:
      known && isOfVerdicts && isSameJudge ? correctedDifference(difference, known.calibration) : null,
  };
}

/** The difference as people would judge, after the scores of both runs. */
export function printCorrectedDifference(
  comparison: FilesComparison,
  scores: ReadonlyMap<string, RunScores>,
  context: CommandContext,
): void {
  const found = correctedOf(comparison, scores)?.difference;
  if (!found) return;
  const names = [comparison.runs.after, comparison.runs.before].map((run) => shownPath(context, run.path));
  context.out("");
  context.out(`${names.join(" − ")}, as people would judge: ${found.value > 0 ? "+" : ""}${share(found)}`);
}

function aboutText({ corrected, calibration, labels, kappa }: CorrectedScore): string {
  const method = corrected?.method === "prediction-powered" ? "prediction-powered" : "Rogan-Gladen";
  const agreement = kappa === null ? "kappa not defined" : `kappa ${kappa.toFixed(2)}`;
  return `(${method}; ${calibration}: ${countText(labels, "label")}, ${agreement})`;
}

function share({ value, low, high }: { value: number; low: number | null; high: number | null }): string {
  return low === null || high === null
    ? value.toFixed(4)
    : `${value.toFixed(4)} [${low.toFixed(4)}, ${high.toFixed(4)}]`;
}
