/** What the viewer says is wrong with a row, and where in it. */
export interface Problem {
  path: string;
  message: string;
}

/** `ok`: a verify response; `invalid`: an object that is none, shown all the same; `unreadable`: no JSON object. */
export type RowState = "ok" | "invalid" | "unreadable";

/** Which file a row stands in. */
export type Source = "rollouts" | "failures";

/** A row, by file and 1-based line. */
export interface RowRef {
  source: Source;
  line: number;
}

/** One entry of the list. */
export interface ListedRow extends RowRef {
  state: RowState;
  task: number | null;
  rollout: number | null;
  /** Null where there is none that counts: the rollout failed, or its reward is no number. */
  reward: number | null;
  agent: string | null;
  /** Class of the failure. */
  failure: string | null;
  masked: boolean;
  output_tokens: number | null;
  response_id: string | null;
  prompt: string;
  answer: string;
  problem: string | null;
}

export interface FileStatus {
  name: string;
  path: string;
  exists: boolean;
  bytes: number;
  indexed_bytes: number;
  rows: number;
  torn_line: number | null;
}

/** Answer of `/api/status`. */
export interface ViewerStatus {
  rollouts: FileStatus;
  failures: FileStatus;
  /** Changes whenever a file grows. */
  version: number;
  /** Changes when a file was replaced by another one. */
  generation: number;
  indexing: boolean;
  /** Rollouts the run is to have, where its manifest says so. */
  expected: number | null;
  agents: string[];
  failure_classes: string[];
  /** Rows that are no verify responses, and lines that are no rows. */
  invalid: number;
  unreadable: number;
  /** Why a file cannot be read now. */
  error: string | null;
}

/** Answer of `/api/rollouts`. */
export interface RowsPage {
  version: number;
  generation: number;
  total: number;
  offset: number;
  rows: ListedRow[];
  /** Place of the row asked for with `locate` in this list. */
  located: number | null;
  search: SearchProgress | null;
}

/** How far a search through the file has come. */
export interface SearchProgress {
  done: boolean;
  searched_rows: number;
  rows: number;
}

/** Answer of `/api/overview`. */
export interface Overview {
  version: number;
  /** Rollouts with a reward that counts, among those the filter lets through. */
  rewarded: number;
  mean: number | null;
  passed: number;
  failed: number;
  masked: number;
  pass_threshold: number;
  bins: { from: number; to: number; count: number }[];
}

export interface TaskEntry {
  task: number;
  rollouts: number;
  failed: number;
  rewarded: number;
  passed: number;
  mean: number | null;
  min: number | null;
  max: number | null;
}

/** Answer of `/api/tasks`. */
export interface TasksPage {
  version: number;
  total: number;
  offset: number;
  tasks: TaskEntry[];
}

/** Answer of `/api/statistics`: JSON texts to be shown as they are. */
export interface PanelTexts {
  /** The dataset statistics over the rollouts file. */
  dataset: string;
  left_out: { field: string; reason: string }[];
  /** Files of the run beside the rollouts, where they exist. */
  files: { name: string; text: string }[];
}

/** Answer of `/api/row`; `row` is the line as it stands in the file. */
export interface RowAnswer extends RowRef {
  path: string;
  state: RowState;
  problems: Problem[];
  row: unknown;
  /** The beginning of a line that is no JSON object. */
  raw: string | null;
  bytes: number;
}

/** Answer of `/api/row` to who looks at a file that has been written anew since; its row is there no more. */
export interface RowGone extends RowRef {
  state: "changed";
}

export const SORTS = ["file", "task", "reward", "tokens"] as const;
export const STATUSES = ["all", "completed", "failed", "masked", "invalid"] as const;
export type Sort = (typeof SORTS)[number];
export type StatusFilter = (typeof STATUSES)[number];
