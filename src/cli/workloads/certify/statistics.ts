import { createReadStream, existsSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import type { AuditFinding, Check, CheckResult } from "../audit/audit.ts";
import { AuditError } from "../errors.ts";

/** Share of tasks without signal above which nothing can be learned. */
const MAX_SILENT = 0.9;
/** Two-sided normal quantile of 95 %. */
const Z = 1.96;

interface Run {
  readonly name: string;
  /** Rewards by task. */
  readonly tasks: ReadonlyMap<string, number[]>;
  /** Values of the numeric fields of the results. */
  readonly fields: ReadonlyMap<string, Set<number>>;
}

/** The checks of the statistical level, on the rollouts of existing runs. */
export function statisticalChecks(files: readonly string[]): Check[] {
  const skipped: CheckResult = { findings: [], skipped: "no run; give its rollouts with --run" };
  const check = (name: string, title: string, run: (runs: readonly Run[]) => CheckResult): Check => ({
    name,
    title,
    run: async () => (files.length === 0 ? skipped : run(await Promise.all(files.map(readRun)))),
  });
  return [
    check("rewards-carry-signal", "Rollouts of a task earn different rewards", signal),
    check("components-vary", "Every part of the result varies", components),
    check("models-separated", "Two models differ by more than chance", separation),
  ];
}

async function readRun(file: string): Promise<Run> {
  if (!existsSync(file)) throw new AuditError(`--run ${file} does not exist.`);
  const tasks = new Map<string, number[]>();
  const fields = new Map<string, Set<number>>();
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(file, "utf8") })) {
    line++;
    if (text.trim() === "") continue;
    const row = parsed(text, file, line);
    const { reward } = row;
    if (typeof reward !== "number")
      throw new AuditError(`${file}:${line} has no reward; give the rollouts of a run.`);
    const task = String(row["_ng_task_index"] ?? line);
    tasks.set(task, [...(tasks.get(task) ?? []), reward]);
    for (const [name, value] of Object.entries(row)) {
      if (name.startsWith("_ng_") || (typeof value !== "number" && typeof value !== "boolean")) continue;
      fields.set(name, (fields.get(name) ?? new Set()).add(Number(value)));
    }
  }
  if (tasks.size === 0) throw new AuditError(`${file} has no rollouts.`);
  return { name: path.basename(file), tasks, fields };
}

function parsed(text: string, file: string, line: number): JsonObject {
  try {
    const row: unknown = JSON.parse(text);
    if (isObject(row)) return row;
  } catch {
    // The message below says where.
  }
  throw new AuditError(`${file}:${line} is not a JSON object.`);
}

function signal(runs: readonly Run[]): CheckResult {
  const findings: AuditFinding[] = [];
  const measured: Record<string, unknown> = {};
  for (const { name, tasks } of runs) {
    const rewards = [...tasks.values()];
    const repeated = rewards.filter((list) => list.length > 1);
    const silent = repeated.filter((list) => new Set(list).size === 1).length;
    const share = repeated.length === 0 ? null : silent / repeated.length;
    const means = rewards.map(mean);
    const difficulty = mean(means);
    const solved =
      rewards.filter((list) => Math.max(...list) > Math.min(...rewards.flat())).length / rewards.length;
    measured[name] = {
      tasks: rewards.length,
      mean_reward: rounded(difficulty),
      silent_share: share === null ? null : rounded(share),
      pass_at_1: rounded(difficulty),
      pass_at_k: rounded(solved),
    };
    if (new Set(rewards.flat()).size === 1)
      findings.push({
        message: `Every rollout of ${name} earns ${rewards[0]?.[0]}.`,
        evidence: { tasks: rewards.length },
      });
    else if (share !== null && share > MAX_SILENT)
      findings.push({
        message: `In ${(share * 100).toFixed(0)} % of the tasks of ${name} all rollouts earn the same.`,
        evidence: { silent, tasks: repeated.length },
      });
  }
  return { findings, measured };
}

function components(runs: readonly Run[]): CheckResult {
  const names = new Set(runs.flatMap(({ fields }) => [...fields.keys()]));
  const constant = [...names].filter(
    (name) => new Set(runs.flatMap(({ fields }) => [...(fields.get(name) ?? [])])).size === 1,
  );
  return {
    findings: constant
      .filter((name) => /reward|score|correct/.test(name))
      .map((name) => ({ message: `The field '${name}' never varies.`, evidence: { field: name } })),
    measured: { fields: names.size, constant },
  };
}

function separation(runs: readonly Run[]): CheckResult {
  const [first, second] = runs;
  if (first === undefined || second === undefined)
    return { findings: [], skipped: "it needs the runs of two models" };
  const shared = [...first.tasks.keys()].filter((task) => second.tasks.has(task));
  if (shared.length < 2) return { findings: [], skipped: "the runs have fewer than two tasks in common" };
  const differences = shared.map(
    (task) => mean(first.tasks.get(task) ?? []) - mean(second.tasks.get(task) ?? []),
  );
  const centre = mean(differences);
  const variance =
    differences.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (differences.length - 1);
  const half = Z * Math.sqrt(variance / differences.length);
  const interval = [rounded(centre - half), rounded(centre + half)];
  const separated = Math.abs(centre) > half;
  const measured = { tasks: shared.length, difference: rounded(centre), interval, separated };
  const message = `The difference of ${rounded(centre)} may be chance: its 95 % interval is ${interval[0]} to ${interval[1]}.`;
  return { findings: separated ? [] : [{ message, evidence: measured }], measured };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
