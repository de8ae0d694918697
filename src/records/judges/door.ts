/** Judges of runs: labels of people, calibrations, and scores that they correct. */

export {
  type Calibration,
  calibrate,
  readCalibration,
  writeCalibration,
} from "./calibration.ts";
export {
  type CalibrationFile,
  type CalibrationRequirement,
  type CorrectedScore,
  correctedScore,
  parseRequirement,
  unmetRequirements,
} from "./corrected-run.ts";
export { digestOfRollout, type JudgedAgent, type JudgedRollout, readJudgedRun } from "./judged-run.ts";
export {
  LABELS,
  type LabelLine,
  type LabelName,
  LabelWriter,
  labelsByRollout,
  labelsPath,
  readRolloutLabels,
} from "./labels.ts";
export { labelQueue, type QueueStratum, strataOf } from "./queue.ts";
