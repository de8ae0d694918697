import type { CollectionSnapshot } from "../records/light-door.ts";

/** `Optimization` is the answer of `/api/optimization`. */
export type {
  BoardCell,
  BoardEnvironment,
  BoardTest,
  Optimization,
  OptimizedCandidate,
} from "../records/door.ts";

import type { Board, BoardTest } from "../records/door.ts";
import type { Coverage, Estimate, PassEstimates } from "../records/metrics/door.ts";

/** Answer of `/api/board`: numbers have six digits, and only the most significant tests are listed. */
export interface ShownBoard extends Omit<Board, "tests"> {
  /** Number of all tests of the board. */
  tests: number;
  /** Significant tests of each kind: how many there are, and the listed ones, smallest p first. */
  changes: { significant: number; listed: BoardTest[] };
  differences: { significant: number; listed: BoardTest[] };
}

/** A problem of a row, and its position. */
export interface Problem {
  path: string;
  message: string;
}

/** The file that contains a row. */
export type RowSource = "rollouts" | "failures";

/** A row, by file and 1-based line. */
export interface RowRef {
  source: RowSource;
  line: number;
}

/** A user's annotation of a rollout. */
export interface Annotation {
  labels: string[];
  note: string;
  exclude: boolean;
}

/** One entry of the list. */
export interface ListedRow extends RowRef {
  readable: boolean;
  task: number | null;
  rollout: number | null;
  /** Null without a valid reward: the rollout failed, or its reward is not a number. */
  reward: number | null;
  agent: string | null;
  model: string | null;
  /** Class of the failure. */
  failure: string | null;
  /** The last failed attempt of a rollout that did not complete and is not being retried. */
  lost: boolean;
  /** Whether the address of its task and repeat opens this row. Other rows with the same indices have the address of their line. */
  addressed: boolean;
  masked: boolean;
  /** Failed attempts before this one. */
  attempt: number;
  input_tokens: number | null;
  output_tokens: number | null;
  cost: number | null;
  duration_ms: number | null;
  turns: number | null;
  tool_calls: number | null;
  tools: string[];
  bytes: number;
  prompt: string;
  answer: string;
  /** The beginnings of the extracted and the expected answer; null if the row and its input have none, or are too large. */
  extracted: string | null;
  expected: string | null;
  /** The beginning of the message of a failure. */
  message: string | null;
  annotation: Annotation | null;
}

export interface FileStatus {
  name: string;
  path: string;
  exists: boolean;
  bytes: number;
  indexed_bytes: number;
  rows: number;
  /** Lines among the rows that cannot be read. */
  bad_lines: number;
  torn_line: number | null;
}

/** `running`: a collection writes it; `done`: every requested rollout has an outcome; `stopped`: neither. */
export type RunState = "running" | "paused" | "done" | "stopped" | "empty";

/** The identity and state of a run. */
export interface RunHead {
  id: string;
  name: string;
  path: string;
  environment: string | null;
  model: string | null;
  agents: string[];
  /** Start time, or the time of the last write if unknown; ISO 8601. */
  when: string;
  state: RunState;
  /** Rollouts of a run that is done that failed in every attempt. */
  failed: number;
  bytes: number;
}

/** One entry of the list of runs. */
export interface RunEntry extends RunHead {
  /** `tasks` is null where only the progress file is read, which does not count them. */
  reward: (Omit<Estimate, "tasks"> & { tasks: number | null }) | null;
  coverage: Coverage | null;
  cost: number | null;
}

/** Answer of `/api/runs`. */
export interface RunsAnswer {
  root: string;
  runs: RunEntry[];
  /** Names of the optimizations among the runs: their directories relative to the root. */
  optimizations: string[];
  /** Whether the server has exactly one run, and nothing else. */
  single: boolean;
  static: boolean;
}

/** Answer of `/api/status`. */
export interface ViewerStatus {
  run: RunHead;
  rollouts: FileStatus;
  failures: FileStatus;
  /** Changes whenever a file grows. */
  version: number;
  /** Changes when a file was replaced. */
  generation: number;
  indexing: boolean;
  agents: string[];
  models: string[];
  tools: string[];
  failure_classes: string[];
  labels: string[];
  /** Number of lines that are not rows. */
  unreadable: number;
  /** Why a file currently cannot be read. */
  error: string | null;
  /** Changes with every annotation. */
  annotated: number;
  can_annotate: boolean;
}

/** Answer of `/api/rollouts`. */
export interface RowsPage {
  version: number;
  generation: number;
  total: number;
  offset: number;
  rows: ListedRow[];
  /** Position in this list of the row requested with `locate`. */
  located: number | null;
  search: SearchProgress | null;
  /** False while the file is still being read or searched: more rows may follow. */
  complete: boolean;
}

/** The progress of a search through the file. */
export interface SearchProgress {
  done: boolean;
  searched_rows: number;
  rows: number;
  /**
   * Set if only the excerpts of question and answer were searched: a static folder stores the whole rows in separate
   * files.
   */
  excerpts_only?: true;
}

/** A distribution as bars. */
export interface Distribution {
  bins: { from: number; to: number; count: number }[];
  mean: number;
  median: number;
  max: number;
  count: number;
}

export interface GroupRow {
  agent: string | null;
  environment: string | null;
  rollouts: number;
  tasks: number;
  failed: number;
  reward: Estimate | null;
  pass_1: Estimate | null;
  output_tokens: number | null;
  cost: number | null;
}

/** Answer of `/api/overview`. */
export interface Overview {
  version: number;
  /** False while the file is being read or searched: the figures cover the rows read so far. */
  complete: boolean;
  search: SearchProgress | null;
  filtered: boolean;
  coverage: Coverage & { running: number };
  /** Completed rollouts with a valid reward. */
  rewarded: number;
  without_reward: number;
  reward: Estimate | null;
  passed: number;
  pass_threshold: number;
  /** Whether all rewards are in [0, 1]. */
  is_unit: boolean;
  pass: PassEstimates[];
  tasks: number;
  /** Rows without a task count as one task each. */
  without_task: number;
  groups: GroupRow[];
  rewards: Distribution | null;
  tokens: Distribution | null;
  turns: Distribution | null;
  durations: Distribution | null;
  totals: {
    input_tokens: number | null;
    output_tokens: number | null;
    cost: number | null;
    spent: number | null;
    elapsed_seconds: number | null;
    model_calls: number | null;
    tool_calls: number;
  };
  /** How turns continue the previous tokens, over the whole run; null without token ids. */
  turn_boundaries: { extend: number; fork: number; lost: number } | null;
  /** Seconds since the start, rollouts done, rollouts in flight. */
  history: [seconds: number, done: number, in_flight: number][];
  failures: { class: string; attempts: number; lost: number; message: string | null }[];
  slowest: (RowRef & {
    task: number | null;
    rollout: number | null;
    seconds: number | null;
    tokens: number | null;
    addressed: boolean;
  })[];
}

export const TASK_SETS = ["all", "mixed", "always_fail", "always_pass", "errored", "flipped"] as const;
export type TaskSet = (typeof TASK_SETS)[number];
export const TASK_SORTS = ["task", "mean", "variance", "length", "difference"] as const;
export type TaskSort = (typeof TASK_SORTS)[number];

/** One repeat of a task in the grid. */
export interface GridCell extends RowRef {
  rollout: number | null;
  reward: number | null;
  state: "pass" | "part" | "zero" | "none" | "masked" | "failed" | "excluded";
  /** Failed attempts before this one. */
  attempt: number;
  addressed: boolean;
}

export interface TaskEntry {
  task: number;
  prompt: string;
  cells: GridCell[];
  mean: number | null;
  variance: number | null;
  passed: number;
  rewarded: number;
  failed: number;
  tokens: number | null;
  /** Mean in the compared run. */
  other: number | null;
}

/** Answer of `/api/tasks`. */
export interface TaskList {
  version: number;
  total: number;
  offset: number;
  counts: Record<TaskSet, number>;
  tasks: TaskEntry[];
  search: SearchProgress | null;
  /** False while the file is still being read or searched: more tasks may follow. */
  complete: boolean;
}

/** Answer of `/api/statistics`: JSON texts to be shown unchanged. */
export interface PanelTexts {
  /** The dataset statistics over the rollouts file. */
  dataset: string;
  left_out: { field: string; reason: string }[];
  /** Other existing files of the run. */
  files: { name: string; text: string }[];
  /** All files of the run that exist. */
  existing: { name: string; bytes: number }[];
}

/** A value that was removed from a large row: its `path`, and its byte range in the line. */
export interface Elided {
  path: (string | number)[];
  from: number;
  to: number;
  kind: "string" | "numbers" | "value";
}

/** Answer of `/api/row`; `row` is the line as in the file, with long values truncated. */
export interface RowAnswer extends RowRef {
  path: string;
  readable: boolean;
  problems: Problem[];
  row: unknown;
  /** The beginning of a line that is not a JSON object. */
  raw: string | null;
  bytes: number;
  elided: Elided[];
  /** Fields with branches nested deeper than the pages read; these branches are null in `row`. */
  too_deep: string[];
  annotation: Annotation | null;
  /** The fields of the task's row in the input of the run, without the request; null if they are not known. */
  input: unknown;
  attempts: AttemptEntry[];
}

/** An attempt at a rollout: failed ones, then the one that completed. */
export interface AttemptEntry extends RowRef {
  attempt: number;
  failure: string | null;
  reward: number | null;
}

/** Answer of `/api/row` to a client that refers to a file that has been replaced; its row no longer exists. */
export interface RowGone extends RowRef {
  changed: true;
}

/** Answer of `/api/compare`. */
export interface CompareAnswer {
  runs: {
    id: string;
    name: string;
    reward: Estimate | null;
    tasks: number;
    rollouts: number;
    coverage: Coverage;
  }[];
  /** The first run against each of the others. */
  pairs: {
    with: string;
    matched_by: "index" | "content";
    matched_content: string | null;
    kept_apart: number;
    common: number;
    only_before: number;
    only_after: number;
    difference: Estimate | null;
    wins: number;
    losses: number;
    ties: number;
    paired_t_p: number | null;
    sign_test_p: number;
    permutation_p: number;
    problem: string | null;
  }[];
  tasks: ComparedTask[];
  total: number;
  /** Number of tasks by change, independent of the requested change. */
  changes: Record<ComparedTask["change"], number>;
  config: { path: string; values: (string | null)[] }[];
  prompts: (string | null)[];
}

export interface ComparedTask {
  /** The index of the task in the first run that has it. */
  task: number;
  prompt: string;
  /** Mean reward and index of the task in each run; null if a run does not have the task. */
  means: (number | null)[];
  indices: (number | null)[];
  change: "improved" | "regressed" | "unchanged" | "missing";
  difference: number | null;
}

/** Answer of `/api/live`. */
export interface LiveAnswer {
  /** Null when no collection of this user writes the run. */
  collection: CollectionSnapshot | null;
}

/** The logs of the run's servers and sandboxes, and lines of one of them. */
export interface LogAnswer {
  /** Logs with the most lines about the rollout first; at most 1,000 lines are counted. */
  logs: { name: string; bytes: number; rollout_lines: number }[];
  name: string | null;
  /** The last lines, or those about the rollout. */
  lines: string[];
  matched: boolean;
}

export const SORTS = ["file", "task", "reward", "tokens", "turns", "seconds", "cost"] as const;
export type Sort = (typeof SORTS)[number];

/** A named text of a rollout that people label. */
export interface LabelText {
  name: string;
  text: string;
}

/** A rollout that people label, without its reward, its verdict and its model. */
export interface LabelItem {
  /** Position in the queue, from 1. */
  place: number;
  key: { task: number; rollout: number; digest: string };
  task: LabelText[];
  answer: LabelText[];
  /** Fields of the task's row; the expected answer first. */
  fields: LabelText[];
  /** The label that this labeller gave before. */
  label: "right" | "wrong" | "unclear" | null;
  note: string;
}

/** Answer of `/api/label`. */
export interface LabelState {
  labeller: string;
  by: "human" | "model";
  total: number;
  done: number;
  /** What this labeller has labelled, oldest first. */
  labelled: { task: number; rollout: number }[];
  /** Null if nothing is left, or the labeller is not known yet. */
  item: LabelItem | null;
}
