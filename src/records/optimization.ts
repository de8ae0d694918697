import path from "node:path";
import { isObject } from "../base/python/json/door.ts";
import { RolloutError } from "./errors.ts";
import { OPTIMIZATION_NAME } from "./files/find-runs.ts";
import { type Row, readRows } from "./files/jsonl-rows.ts";
import { compareRuns, type RunComparison } from "./metrics/compare.ts";
import { mean } from "./metrics/descriptive.ts";

/** What an optimization tried, as its `lineage.jsonl` has it. */
export interface Optimization {
  candidates: OptimizedCandidate[];
  /** How often the reflection model was asked for a text. */
  proposals: number;
  rollouts: number;
  tokens: number;
  spent: number;
  /** The comparison of the last candidate that was tested with the texts as they were; null before the test. */
  test: (Pick<RunComparison, "before" | "after" | "difference"> & { candidate: number }) | null;
}

/** Texts that were tried. */
export interface OptimizedCandidate {
  index: number;
  parents: number[];
  /** Names of the changed texts; null for the first candidate and for merges. */
  component: string | null;
  texts: Record<string, string>;
  /** Whether it was scored on all validation tasks. Others did not help on a few tasks. */
  accepted: boolean;
  /** Mean validation reward; null without one. */
  score: number | null;
  /** Validation tasks on which it is better or worse than its first parent. */
  won: TaskOf[];
  lost: TaskOf[];
}

/** A task, and the directory of the rollouts of this candidate on it, relative to that of the record. */
export interface TaskOf {
  task: number;
  directory: string;
}

interface Known {
  candidate: OptimizedCandidate;
  /** Mean reward and directory by validation task. A task whose rollouts failed has no reward. */
  validation: Map<number, { reward: number | null; directory: string }>;
  test: Map<number, number[]>;
}

/** Reads the record of an optimization, which may still be written. */
export async function readOptimization(directory: string, signal?: AbortSignal): Promise<Optimization> {
  const known = new Map<number, Known>();
  const total = { rollouts: 0, tokens: 0, spent: 0 };
  let validationTasks = Number.POSITIVE_INFINITY;
  let proposals = 0;
  const file = path.join(directory, OPTIMIZATION_NAME);
  for await (const { row } of readRows(file, { signal, onTornLine: () => {} })) {
    const key = isObject(row["key"]) ? row["key"] : undefined;
    if (key === undefined)
      throw new RolloutError("ROLLOUT_NONE_FOUND", `'${file}' is not a record of gym optimize.`);
    for (const name of ["rollouts", "tokens", "spent"] as const) total[name] += Number(row[name] ?? 0);
    if (row["kind"] === "start" && isObject(key["splits"]) && Array.isArray(key["splits"]["val"]))
      validationTasks = key["splits"]["val"].length;
    if (row["kind"] === "proposal") proposals++;
    if (row["kind"] === "batch") addBatch(known, key, row);
  }
  const candidates = [...known.values()].map(({ candidate, validation }) => {
    const rewards = [...validation.values()].flatMap(({ reward }) => reward ?? []);
    const accepted = validation.size >= validationTasks && rewards.length > 0;
    const parent = known.get(candidate.parents[0] ?? -1)?.validation ?? new Map();
    const better = (sign: 1 | -1): TaskOf[] =>
      [...validation].flatMap(([task, { reward, directory: own }]) => {
        const before = parent.get(task)?.reward ?? null;
        return reward !== null && before !== null && sign * (reward - before) > 0
          ? [{ task, directory: own }]
          : [];
      });
    return {
      ...candidate,
      accepted,
      score: rewards.length > 0 ? mean(rewards) : null,
      won: better(1),
      lost: better(-1),
    };
  });
  return { candidates, proposals, ...total, test: testOf(known) };
}

function addBatch(known: Map<number, Known>, key: Row, row: Row): void {
  const index = Number(key["candidate"]);
  const own: Known = known.get(index) ?? {
    candidate: {
      index,
      parents: Array.isArray(key["parents"]) ? key["parents"].map(Number) : [],
      component: typeof key["component"] === "string" ? key["component"] : null,
      texts: textsIn(key["texts"]),
      accepted: false,
      score: null,
      won: [],
      lost: [],
    },
    validation: new Map(),
    test: new Map(),
  };
  known.set(index, own);
  const rewards = isObject(row["rewards"]) ? row["rewards"] : {};
  const directory = String(row["directory"] ?? "");
  for (const task of Array.isArray(key["tasks"]) ? key["tasks"].map(Number) : []) {
    const given = rewards[String(task)];
    const list = Array.isArray(given) ? given.map(Number) : [];
    if (key["split"] === "val")
      own.validation.set(task, { reward: list.length > 0 ? mean(list) : null, directory });
    if (key["split"] === "test" && list.length > 0) own.test.set(task, list);
  }
}

function textsIn(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]));
}

function testOf(known: ReadonlyMap<number, Known>): Optimization["test"] {
  const before = known.get(0)?.test;
  const tested = [...known.values()].findLast(({ candidate, test }) => candidate.index > 0 && test.size > 0);
  if (before === undefined || tested === undefined) return null;
  if (![...before.keys()].some((task) => tested.test.has(task))) return null;
  const { before: first, after, difference } = compareRuns(before, tested.test);
  return { candidate: tested.candidate.index, before: first, after, difference };
}
