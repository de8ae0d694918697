import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { isTruthy } from "../../base/python/door.ts";
import { dumps, isObject, loadsPlain } from "../../base/python/json/door.ts";
import { invalidRow } from "../errors.ts";
import { artifactPaths } from "../files/artifact-paths.ts";
import { parseRow, type Row, readLines, readRows } from "../files/jsonl-rows.ts";
import { LineAccess } from "../files/line-access.ts";
import { agentNameOf } from "../files/row-fields.ts";
import { materializedKey, requireKey } from "../files/row-key.ts";
import type { Coverage } from "../metrics/coverage.ts";
import { RolloutKeyMap } from "../metrics/rollout-key-map.ts";
import { PACKED_SUFFIX, runFileExists } from "../packed/run-file.ts";
import { coverageOf } from "./coverage-of-files.ts";
import { rewardOfRow } from "./export/export-selection.ts";

/** The rollouts of one task. */
export interface RunTask {
  rewards: number[];
  agent: string | undefined;
  /** Offset of the row of its first rollout. */
  offset: number;
}

/** The data of a run for a comparison: the rewards of every task with rewards. */
export interface RunTasks {
  path: string;
  tasks: Map<number, RunTask>;
  rollouts: number;
  /** Excluded rollouts: marked `mask_sample`, or with a reward that is not a number. */
  masked: number;
  withoutReward: number;
  coverage: Coverage;
  /** The model that answered, by the first row that names one. */
  model?: string | undefined;
  /** The cost of the rollouts; undefined without prices. */
  cost?: number | undefined;
  /** The number of an incomplete last line. */
  tornLine?: number | undefined;
}

/** Reads the rewards of a rollouts file; a directory means its `rollouts.jsonl`. */
export async function readRunTasks(given: string, options: { signal?: AbortSignal } = {}): Promise<RunTasks> {
  const isDirectory = (await stat(given).catch(() => undefined))?.isDirectory() ?? false;
  const isOneOfMany = isDirectory || given.endsWith(PACKED_SUFFIX);
  const path = isOneOfMany ? join(given, "rollouts.jsonl") : given;
  const { failures, materializedInputs } = artifactPaths(path);
  const coverage = await coverageOf({
    failures: [failures],
    materializedInputs: [materializedInputs],
    ...options,
  });
  const tasks = new Map<number, RunTask>();
  const seen = new RolloutKeyMap();
  const counts = { rollouts: 0, masked: 0, withoutReward: 0 };
  const about: Pick<RunTasks, "model" | "cost" | "tornLine"> = {};
  const onTornLine = ({ number }: { number: number }) => {
    about.tornLine = number;
  };
  for await (const { row, line } of readRows(path, { ...options, onTornLine })) {
    const { taskIndex, rolloutIndex } = requireKey(row, path, line);
    if (seen.has(taskIndex, rolloutIndex)) {
      throw invalidRow(path, line, `rollout ${rolloutIndex} of task ${taskIndex} occurs twice.`);
    }
    seen.set(taskIndex, rolloutIndex, 0);
    coverage.complete(row);
    const response = isObject(row["response"]) ? row["response"] : {};
    if (typeof response["model"] === "string") about.model ??= response["model"];
    const cost = isObject(response["usage"]) ? response["usage"]["ng_cost"] : undefined;
    if (typeof cost === "number") about.cost = (about.cost ?? 0) + cost;
    const reward = rewardOfRow(row);
    if (isTruthy(row["mask_sample"])) counts.masked++;
    else if (reward === undefined) counts.withoutReward++;
    else {
      counts.rollouts++;
      const task = tasks.get(taskIndex);
      if (task) task.rewards.push(reward);
      else tasks.set(taskIndex, { rewards: [reward], agent: agentNameOf(row), offset: line.offset });
    }
  }
  return { path, tasks, ...counts, coverage: coverage.result(), ...about };
}

/** A task whose rewards differ between two runs of the same rollouts; sorted, because rows may be in another order. */
export interface ChangedReward {
  task: number;
  before: number[];
  after: number[];
}

/** The tasks whose rewards changed when their rollouts were scored again. Tasks without new rewards are left out. */
export function changedRewards(before: RunTasks, after: RunTasks): ChangedReward[] {
  const changed: ChangedReward[] = [];
  for (const [task, { rewards }] of after.tasks) {
    const [old, now] = [before.tasks.get(task)?.rewards ?? [], rewards].map((own) =>
      [...own].sort((a, b) => a - b),
    );
    if (old?.join() !== now?.join()) changed.push({ task, before: old ?? [], after: now ?? [] });
  }
  return changed;
}

/** The content that equal tasks share: the whole input row or, without input rows, the prompt. */
export type ContentKind = "inputs" | "prompts";

/** Whether the input rows of a run exist next to its rollouts. */
export function hasInputs(run: RunTasks): boolean {
  return runFileExists(artifactPaths(run.path).materializedInputs);
}

/** A digest of the content of each task; settings of the run (sampling, agent, skills) are excluded. */
export async function taskContents(
  run: RunTasks,
  kind: ContentKind,
  options: { signal?: AbortSignal } = {},
): Promise<Map<number, string>> {
  if (kind === "inputs")
    return inputContents(artifactPaths(run.path).materializedInputs, (task) => run.tasks.has(task), options);
  const contents = new Map<number, string>();
  const file = new LineAccess(run.path);
  try {
    for (const [taskIndex, { offset }] of run.tasks) {
      const prompt = taskPromptOf(loadsPlain(file.lineAt(offset), { allowNonFinite: true }) as Row);
      if (prompt !== undefined) contents.set(taskIndex, digest(prompt));
    }
  } finally {
    file.close();
  }
  return contents;
}

/** The digests of the input rows of the wanted tasks; the first row of a task represents its repeats. */
export async function inputContents(
  path: string,
  wanted: (taskIndex: number) => boolean,
  options: { signal?: AbortSignal } = {},
): Promise<Map<number, string>> {
  const contents = new Map<number, string>();
  for await (const line of readLines(path, options)) {
    const { taskIndex } = materializedKey(path, line);
    if (!wanted(taskIndex) || contents.has(taskIndex)) continue;
    contents.set(taskIndex, digest(inputContent(parseRow(path, line))));
  }
  return contents;
}

function inputContent(row: Row): Row {
  const content: Row = {};
  for (const [key, value] of Object.entries(row)) {
    if (key.startsWith("_ng_") || key === "agent_ref" || key === "skills_ref") continue;
    content[key] = key === "responses_create_params" ? taskPromptOf(row) : value;
  }
  return content;
}

/** The prompt of a row, without sampling settings. */
export function taskPromptOf(row: Row): unknown {
  const params = row["responses_create_params"];
  if (params === null || typeof params !== "object") return undefined;
  const { input, instructions } = params as Row;
  return instructions === undefined || instructions === null ? input : { input, instructions };
}

function digest(content: unknown): string {
  return createHash("sha256")
    .update(dumps(content, { sortKeys: true }))
    .digest("base64")
    .slice(0, 22);
}
