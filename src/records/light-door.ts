/** The progress of a run as its file has it: types only, also for the viewer's page. */

export type {
  CollectionSnapshot,
  FailedRow,
  ProgressSnapshot,
  RunningSnapshot,
  TroubleSnapshot,
  TurnBoundaries,
} from "./progress-snapshot.ts";
