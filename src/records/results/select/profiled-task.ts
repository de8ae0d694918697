import { createHash } from "node:crypto";
import { isObject } from "../../../base/python/json/door.ts";
import { invalidRow } from "../../errors.ts";
import type { RolloutAnnotation } from "../../files/annotations.ts";
import type { Row, RowLine } from "../../files/jsonl-rows.ts";
import { agentNameOf } from "../../files/row-fields.ts";
import { sampleDeviation } from "../../metrics/descriptive.ts";

/** When two tasks are duplicates: never, with the same prompt, or with the same words in it. */
export const DUPLICATE_RULES = ["none", "prompt", "words"] as const;
export type DuplicateRule = (typeof DUPLICATE_RULES)[number];

/** A task of a profile: its position, and its results. */
export interface ProfiledTask {
  file: number;
  offset: number;
  environment: string;
  rollouts: number;
  passRate: number;
  /** Sample deviation of the rewards; 0 for a single one. */
  deviation: number;
  /** Equal for duplicate tasks. */
  identity: string | undefined;
}

const NO_ENVIRONMENT = "(none)";
/** Rewards with a smaller difference count as equal. */
const ROUNDING = 1e-9;

/** Reads a line of a profile in either form of `gym eval profile`; undefined when annotations exclude all its rollouts. */
export function profiledTask(
  { row, line }: RowLine,
  options: {
    path: string;
    file: number;
    passThreshold: number;
    duplicates: DuplicateRule;
    annotations: ReadonlyMap<string, RolloutAnnotation>;
  },
): ProfiledTask | undefined {
  const { path, file, passThreshold, duplicates } = options;
  const reject = (problem: string) => invalidRow(path, line, problem);
  const task = taskRowOf(row);
  const place = {
    file,
    offset: line.offset,
    environment: environmentOf(task),
    identity: identityOf(task, duplicates),
  };
  const infos = row["rollout_infos"];
  if (Array.isArray(infos)) {
    const kept = infos.filter(isObject).filter((info) => !isExcluded(info, options.annotations));
    const rewards = kept.map(({ reward }) => Number(reward));
    if (!rewards.every(Number.isFinite)) throw reject("a reward in 'rollout_infos' is not a number.");
    if (rewards.length === 0) return undefined;
    const passed = rewards.filter((reward) => reward >= passThreshold).length;
    return {
      ...place,
      rollouts: rewards.length,
      passRate: passed / rewards.length,
      deviation: deviationOf(rewards),
    };
  }
  const { total_samples: rollouts, pass_rate: passRate, std_reward: deviation } = row;
  if (typeof rollouts !== "number" || typeof deviation !== "number")
    throw reject("the row is not from a profile; create it with `gym eval profile`.");
  if (typeof passRate !== "number")
    throw reject("the profile has no pass rates; create it with `+pass_threshold=<reward>`.");
  return { ...place, rollouts, passRate, deviation };
}

/** The task row of a line: its `sample`, or the line without the fields that the profile added. */
export function taskRowOf(row: Row): Row {
  const { sample } = row;
  if (isObject(sample) && "rollout_infos" in row) return sample;
  return Object.fromEntries(Object.entries(row).filter(([name]) => !ADDED_FIELDS.has(name)));
}

/** The fields of `taskProfile`. */
const ADDED_FIELDS = new Set([
  "avg_reward",
  "std_reward",
  "min_reward",
  "max_reward",
  "total_samples",
  "pass_rate",
  "pass_rate_total",
  "pass_rate_passed",
  "pass_threshold",
]);

function environmentOf(task: Row): string {
  const { task_source: source } = task;
  return typeof source === "string" ? source : (agentNameOf(task) ?? NO_ENVIRONMENT);
}

function isExcluded(info: Row, annotations: ReadonlyMap<string, RolloutAnnotation>): boolean {
  const key = `${String(info["_ng_task_index"])}:${String(info["_ng_rollout_index"])}`;
  return annotations.get(key)?.exclude ?? false;
}

function deviationOf(rewards: readonly number[]): number {
  const deviation = rewards.length < 2 ? 0 : sampleDeviation(rewards);
  return deviation < ROUNDING ? 0 : deviation;
}

function identityOf(task: Row, rule: DuplicateRule): string | undefined {
  if (rule === "none") return undefined;
  const params = isObject(task["responses_create_params"]) ? task["responses_create_params"] : {};
  const { input, instructions } = params;
  const prompt = JSON.stringify([instructions ?? null, input ?? task]);
  const text = rule === "prompt" ? prompt : wordsOf(prompt);
  return createHash("sha256").update(text).digest("base64").slice(0, 16);
}

/** Letters and digits only: case, whitespace, punctuation and character variants are ignored. */
function wordsOf(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
