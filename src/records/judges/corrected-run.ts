import { RolloutError } from "../errors.ts";
import { clusteredMean, type Estimate } from "../metrics/intervals.ts";
import { type Correction, roganGladen } from "../metrics/judge-errors.ts";
import { type Calibration, rewardsDigest, staleReasons, verdictsByTask } from "./calibration.ts";
import type { JudgedAgent } from "./judged-run.ts";

/** A calibration and the file that has it. */
export interface CalibrationFile {
  file: string;
  calibration: Calibration;
}

/** The score of an agent of a run, by its judge and as people would judge. */
export interface CorrectedScore {
  agent: string;
  /** Null if there is no calibration of its environment. */
  calibration: string | null;
  /** Why the calibration does not hold; empty if it does. */
  stale: string[];
  /** The mean verdict. */
  raw: Estimate | null;
  corrected: (Correction & { method: "rogan-gladen" | "prediction-powered" }) | null;
  kappa: number | null;
  labels: number;
  /** Whether every reward is 0 or 1, so that the mean reward is the mean verdict. */
  binary: boolean;
}

/** The corrected score of an agent, with the first calibration of its environment that holds. */
export function correctedScore(agent: JudgedAgent, calibrations: readonly CalibrationFile[]): CorrectedScore {
  const own = calibrations.filter(
    ({ calibration: { environment, agent: name } }) =>
      name === agent.agent || (environment !== null && environment === agent.environment),
  );
  const checked = own.map((each) => ({ ...each, stale: staleReasons(each.calibration, agent.judges) }));
  const found = checked.find(({ stale }) => stale.length === 0) ?? checked[0];
  const score: CorrectedScore = {
    agent: agent.agent,
    calibration: found?.file ?? null,
    stale: found?.stale ?? [],
    raw: null,
    corrected: null,
    kappa: found?.calibration.agreement.cohen_kappa ?? null,
    labels: found?.calibration.labels.rollouts ?? 0,
    binary: agent.rollouts.every(({ reward }) => reward === 0 || reward === 1),
  };
  if (!found || found.stale.length > 0 || agent.rollouts.length === 0) return score;
  const { calibration } = found;
  score.raw = clusteredMean([...verdictsByTask(agent.rollouts, calibration.threshold).values()]);
  score.corrected =
    calibration.run.rewards === rewardsDigest(agent.rollouts)
      ? { ...calibration.scores.corrected, informative: true, method: "prediction-powered" }
      : { ...roganGladen({ ...score.raw, units: score.raw.tasks }, calibration), method: "rogan-gladen" };
  return score;
}

/** Measures of a calibration that a run can require. */
const MEASURES: Readonly<Record<string, (calibration: Calibration) => number | null>> = {
  kappa: ({ agreement }) => agreement.cohen_kappa,
  alpha: ({ agreement }) => agreement.krippendorff_alpha,
  ac1: ({ agreement }) => agreement.gwet_ac1,
  tpr: ({ true_positive_rate }) => true_positive_rate?.value ?? null,
  tnr: ({ true_negative_rate }) => true_negative_rate?.value ?? null,
  labels: ({ labels }) => labels.rollouts,
};

export type CalibrationRequirement = ReadonlyMap<string, number>;

/** Reads `kappa=0.6,labels=100`. */
export function parseRequirement(text: string): CalibrationRequirement {
  const parts = text.split(",").map((part) => part.trim());
  return new Map(
    parts.map((part) => {
      const [, name = "", value = ""] = /^(\w+)\s*=\s*(-?\d+(?:\.\d+)?)$/.exec(part) ?? [];
      if (!Object.hasOwn(MEASURES, name))
        throw new RolloutError(
          "ROLLOUT_CALIBRATION_REQUIREMENT",
          `'${part}' is not a requirement. Give measures with their least values, such as kappa=0.6; measures: ${Object.keys(MEASURES).join(", ")}.`,
        );
      return [name, Number(value)] as const;
    }),
  );
}

/** Why a run does not meet its requirement, one sentence each. Without judged rollouts nothing is known, so it does not. */
export function unmetRequirements(
  scores: readonly CorrectedScore[],
  requirement: CalibrationRequirement,
  calibrations: readonly CalibrationFile[],
): string[] {
  if (scores.length === 0) return ["A calibration is required, but no rollout of this run names a judge."];
  return scores.flatMap(({ agent, calibration: file, stale }) => {
    if (file === null)
      return [
        `A calibration is required, but there is none for the judge of '${agent}'. Make one: gym judge label, then gym judge calibrate.`,
      ];
    if (stale.length > 0)
      return [`The calibration '${file}' of the judge of '${agent}' is stale: ${stale.join("; ")}.`];
    const found = calibrations.find((each) => each.file === file);
    return [...requirement].flatMap(([name, least]) => {
      const value = (found && MEASURES[name]?.(found.calibration)) ?? null;
      if (value !== null && value >= least) return [];
      const shown = value === null ? "not defined" : Number(value.toFixed(4));
      return [
        `The calibration '${file}' of the judge of '${agent}' has ${name} ${shown}, less than ${least}.`,
      ];
    });
  });
}
