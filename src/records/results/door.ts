/** What is made of finished runs: comparison, profile, selection. */

export { type AtifSources, atifRollouts } from "./atif/atif-rollouts.ts";
export {
  type ComparedRun,
  type CompareFilesOptions,
  compareFiles,
  type FilesComparison,
} from "./compare-files.ts";
export { compareMarkdown, flipText, metricCells } from "./compare-markdown.ts";
export { type AggregateSide, compareReport, type ReportOptions } from "./compare-report.ts";
export { matchTasks, type TaskMatching } from "./match-tasks.ts";
export { type ProfileRunOptions, profileRun, profileTasks } from "./profile-files.ts";
export {
  type ChangedReward,
  changedRewards,
  type RunTask,
  type RunTasks,
  readRunTasks,
} from "./run-tasks.ts";
export { type SelectionReport, type SelectOptions, selectTasks } from "./select/select-tasks.ts";
